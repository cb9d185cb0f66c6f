/** The answer of `_entities`: representations are sorted by type, the keys of each go to its source as lists, and what comes back
 *  is put in the order of the representations, unread unless something is joined to it. A row that is not there, or not the
 *  role's to read, is null. Raises `validationFailed` for what represents nothing: then nothing is asked. Reference: docs/reference/behaviour/remote-schemas.md. */
import { fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { JsonScanner } from '../json/scanner.ts';
import { ENTITY } from '../plan/federation.ts';
import { KEYS_VARIABLE } from '../plan/keyed-rows.ts';
import { literalValue } from '../plan/literal.ts';
import type { JoinPlaces } from '../plan/remote-types.ts';
import type { EntitiesCall } from '../plan/types.ts';
import { ENTITIES_FIELD } from '../resolve/federation.ts';
import { textOfColumn } from '../wire/statement.ts';
import type { CallContext, Outcome } from './calls.ts';
import type { PlannedRequest, ReadyCall } from './plan-cache.ts';
import { type Around, graft } from './remote-join.ts';
import { runPlan } from './run-plan.ts';

type ReadyEntities = ReadyCall & { readonly call: EntitiesCall };

export async function answerEntities(
  { call, statements, joins }: ReadyEntities,
  asked: PlannedRequest,
  context: CallContext,
): Promise<Outcome> {
  const { variables } = asked;
  const given = literalValue(call.representations, (name) => variables.values[name]);
  const wanted = (Array.isArray(given) ? given : [given]).map((each, i) => entityOf(each, i, call));
  const texts: string[] = wanted.map(() => 'null');
  const places = call.joins.map((_, join) =>
    wanted.flatMap((entity, i) => (entity.join === join ? [i] : [])),
  );
  const keys = call.joins.map(({ fields }, join) =>
    fields.map((_, column) => places[join]!.map((i) => wanted[i]!.key[column])),
  );
  const binding = { session: context.session, variables: { ...variables.values, [KEYS_VARIABLE]: keys } };
  const rows = await runPlan({ operation: 'query', statements }, binding, context.databases);
  const errors: unknown[] = [];
  const filling = joins.map(async ({ statement, column }, join) => {
    const found = entitiesIn(textOfColumn(rows[statement]?.[column] ?? null) ?? '[]');
    const whole = await joined(found, call.joins[join]!.places, [call.alias], { asked, context, errors });
    for (const [n, i] of places[join]!.entries()) texts[i] = whole[n] ?? 'null';
  });
  await Promise.all(filling);
  return { fields: [`[${texts.join(',')}]`], errors, isUsable: true };
}

/** With what is found elsewhere; where nothing is, unread. */
async function joined(
  entities: readonly string[],
  places: JoinPlaces | null,
  path: readonly string[],
  around: Around,
): Promise<readonly string[]> {
  if (!places) return entities;
  const values = entities.map((text) => parseJson(text));
  await graft(values, places, path, around);
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

/** The text of each entity in a list of objects that hold one. */
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
