/** Runs an `_entities` step: sorts the representations by type, reads the rows of each type by their keys, and returns them in the
 *  order of the representations. Entities are parsed only where something is joined to them. A row that does not exist, or that the
 *  role may not read, is null. Raises `validationFailed` for an invalid representation, before anything is read.
 *  Not here: keys (join.ts), planning (plan/federation.ts). Reference: docs/reference/behaviour/remote-schemas.md. */
import { fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { JsonScanner } from '../json/scanner.ts';
import { ENTITY } from '../plan/federation.ts';
import { literalValue } from '../plan/literal.ts';
import type { JoinPaths } from '../plan/remote-types.ts';
import type { EntitiesCall } from '../plan/types.ts';
import { ENTITIES_FIELD } from '../resolve/federation.ts';
import type { Step } from '../sql/plan.ts';
import { joinInto, rowsOfEach } from './join.ts';
import type { RunContext, StepResult } from './step-types.ts';

type EntitiesStep = Extract<Step, { kind: 'entities' }>;

export async function runEntities({ call, rows: read }: EntitiesStep, run: RunContext): Promise<StepResult> {
  const { values } = run.planned.variables;
  const given = literalValue(call.representations, (name) => values[name]);
  const wanted = (Array.isArray(given) ? given : [given]).map((each, i) => entityOf(each, i, call));
  const ofJoin = call.joins.map((_, join) => wanted.flatMap((each, i) => (each.join === join ? [i] : [])));
  const keys = ofJoin.map((indices) => indices.map((i) => wanted[i]!.key));
  const found = await rowsOfEach(read, keys, entitiesIn, run);
  const texts: string[] = wanted.map(() => 'null');
  const errors: unknown[] = [];
  const filling = call.joins.map(async ({ paths }, join) => {
    const entities = await withJoins(found[join]!, paths, [call.alias], run, errors);
    for (const [n, i] of ofJoin[join]!.entries()) texts[i] = entities[n] ?? 'null';
  });
  await Promise.all(filling);
  return { columns: [`[${texts.join(',')}]`], errors, isUsable: true };
}

/** Returns the entities with what is joined to them. Without joins they are returned unparsed. */
async function withJoins(
  entities: readonly string[],
  paths: JoinPaths | null,
  path: readonly string[],
  run: RunContext,
  errors: unknown[],
): Promise<readonly string[]> {
  if (!paths) return entities;
  const values = entities.map((text) => parseJson(text));
  await joinInto(values, paths, path, run, errors);
  return values.map((value) => JSON.stringify(value));
}

type Wanted = { readonly join: number; readonly key: readonly unknown[] };

function entityOf(representation: unknown, i: number, { joins }: EntitiesCall): Wanted {
  const path = ['selectionSet', ENTITIES_FIELD, 'args', 'representations', i];
  const refuse = (text: string) => fail('validationFailed', { text }, { path });
  const fields = new Map(
    Object.entries(typeof representation === 'object' && representation !== null ? representation : {}),
  );
  const typeName: unknown = fields.get('__typename');
  if (typeof typeName !== 'string') return refuse('a representation is an object with a "__typename"');
  const join = joins.findIndex((each) => each.typeName === typeName);
  if (join < 0) return refuse(`'${typeName}' is no entity`);
  const key = joins[join]!.fields.map((name) => {
    return fields.get(name) ?? refuse(`a representation of '${typeName}' needs its key field '${name}'`);
  });
  return { join, key };
}

/** Returns the text of each entity in a list of objects that hold one. */
function entitiesIn(text: string): readonly string[] {
  const scanner = new JsonScanner(Buffer.from(text));
  const entities: string[] = [];
  scanner.items(() =>
    scanner.members((name) => {
      scanner.peek();
      const start = scanner.at;
      scanner.skip();
      if (name === ENTITY) entities.push(scanner.bytes.toString('utf8', start, scanner.at));
    }),
  );
  return entities;
}
