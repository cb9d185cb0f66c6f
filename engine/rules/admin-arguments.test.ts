/** Arguments of every admin operation that do not parse: absent, null, of the wrong kind. The cases are generated from OPERATIONS, for each
 *  name on each endpoint; the code is `parse-failed`, and the path is that of the argument.
 *  Rule: docs/reference/behaviour/errors.md, "path". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printPath } from '../errors/engine-error.ts';
import type { Endpoint, OperationDeclaration } from '../metadata/operations/row.ts';
import { namesAt, OPERATION_NAMES, OPERATIONS } from '../metadata/operations.ts';
import { asJsonSchema, type JsonSchema } from '../metadata/walk-schema.ts';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({ sql: 'create table t (id int primary key)', tables: ['t'] });
});
afterAll(() => world.close());

/** Arguments that may have any JSON value, or that have a rule of their own. */
const OPEN: ReadonlySet<string> = new Set(['replace_metadata']);

type Case = { readonly what: string; readonly args: unknown; readonly path: readonly string[] };

/** Returns a value that the schema refuses because of its kind; undefined when it accepts every kind. */
function wrongKind(schema: JsonSchema): unknown {
  const kinds = (schema.anyOf ?? [schema]).flatMap((branch) =>
    branch.const === undefined ? branch.type : typeof branch.const,
  );
  if (kinds.includes(undefined)) return undefined;
  return kinds.includes('boolean') ? (kinds.includes('number') ? undefined : 17) : true;
}

/** Returns a value of the right kind, so that the error is that of another argument. */
function rightKind(schema: JsonSchema, key: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf) return rightKind(schema.anyOf[0]!, key);
  if (schema.properties) {
    const keys = schema.required ?? [];
    return Object.fromEntries(keys.map((inner) => [inner, rightKind(schema.properties![inner]!, inner)]));
  }
  if (schema.minItems) return [rightKind(schema.items!, key)];
  const values: Record<string, unknown> = {
    string: 'a',
    boolean: true,
    integer: 1,
    number: 1,
    object: {},
    array: [],
  };
  return schema.type === undefined ? {} : values[schema.type];
}

function casesOf(schema: JsonSchema): readonly Case[] {
  if (schema.type !== 'object') return [{ what: 'an object for a list', args: {}, path: [] }];
  const { properties = {}, required = [] } = schema;
  const complete = rightKind(schema, '') as Record<string, unknown>;
  const without = (key: string) =>
    Object.fromEntries(Object.entries(complete).filter(([other]) => other !== key));
  return [
    ...[true, 'text', 17, []].map((args) => ({
      what: `${JSON.stringify(args)} for all arguments`,
      args,
      path: [],
    })),
    ...required
      .filter((key) => key !== 'source')
      .map((key) => ({ what: `no ${key}`, args: without(key), path: [] })),
    ...Object.entries(properties).flatMap(([key, member]): Case[] => {
      const wrong = wrongKind(member);
      return wrong === undefined
        ? []
        : [{ what: `${JSON.stringify(wrong)} for ${key}`, args: { ...complete, [key]: wrong }, path: [key] }];
    }),
  ];
}

/** Returns the path of the arguments: `/v1/query`, and names with a kind of source on `/v1/metadata`, leave out `args`. */
function pathAt(endpoint: Endpoint, type: string, path: readonly string[]): string {
  const isBare = endpoint === '/v1/query' || (endpoint === '/v1/metadata' && type.startsWith('pg_'));
  return printPath([...(isBare ? [] : ['args']), ...path]);
}

const ENDPOINTS: readonly Endpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];

describe.each(ENDPOINTS)('at %s', (endpoint) => {
  const names = OPERATION_NAMES.filter((name) => !OPEN.has(name) && namesAt(name, endpoint).length > 0);
  test.each(names)('%s', async (name) => {
    const row: OperationDeclaration = OPERATIONS[name];
    const type = namesAt(name, endpoint).at(-1)!;
    const isBatch = row.effect === 'batch';
    for (const { what, args, path } of casesOf(asJsonSchema(row.args))) {
      // Other forms of the arguments miss no keys, and the kind of a source is in the name of the operation.
      if (path.length === 0 ? row.lenient : path[0] === 'kind') continue;
      const outcome = await adminOutcome(world.engine, type, args, { endpoint });
      const expected = isBatch ? '$.args' : pathAt(endpoint, type, path);
      expect({ what, ...outcome }).toMatchObject({ what, code: 'parse-failed', path: expected });
    }
  });
});

/** Returns every place in the arguments where a list of headers may be. */
function headerLists(schema: JsonSchema, path: readonly string[] = []): readonly (readonly string[])[] {
  const branches = schema.anyOf ?? [schema];
  return branches.flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([key, member]) =>
      key === 'headers' && member.type === 'array' ? [[...path, key]] : headerLists(member, [...path, key]),
    ),
  );
}

/** Returns complete arguments with one header at the place. */
function withHeader(schema: JsonSchema, path: readonly string[], header: object): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return [header];
  const branch = schema.anyOf?.find(({ properties }) => properties && key in properties) ?? schema;
  const inner = withHeader(branch.properties![key]!, rest, header);
  return { ...(rightKind(branch, '') as object), [key]: inner };
}

describe('a header cannot have the value of an option', () => {
  const cases = ENDPOINTS.flatMap((endpoint) =>
    OPERATION_NAMES.flatMap((name) => {
      const [type] = namesAt(name, endpoint).slice(-1);
      const lists = headerLists(asJsonSchema(OPERATIONS[name].args));
      return type === undefined ? [] : lists.map((path) => [type, path.join('.'), endpoint, name] as const);
    }),
  );

  test.each(cases)('%s, %s, at %s', async (type, place, endpoint, name) => {
    const path = place.split('.');
    for (const variable of ['ENGINE_GRAPHQL_CLIENT_NAME', 'HASURA_GRAPHQL_CLIENT_NAME']) {
      const header = { name: 'x', value_from_env: variable };
      const args = withHeader(asJsonSchema(OPERATIONS[name].args), path, header);
      expect(await adminOutcome(world.engine, type, args, { endpoint })).toMatchObject({
        code: 'parse-failed',
        path: `${pathAt(endpoint, type, path)}[0]`,
        message: expect.stringContaining(`are not allowed in value_from_env: ${variable}`),
      });
    }
  });

  test('of actions, triggers, remote schemas, validations and one-off events', () => {
    const names = new Set(cases.map(([, , , name]) => name));
    expect(names.size).toBeGreaterThan(7);
  });
});
