/** Lists in session variables × operators and column types: Postgres's notation and JSON mean the same list, as headers and as array
 *  claims of a token. Rule: docs/reference/behaviour/operators.md, "Permission rules". */
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jwtSecret } from '../config/jwt-secret.ts';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const KEY = 'a key of thirty-two characters at least';

/** Columns with three values each, in the JSON of a list and in Postgres's notation. */
const COLUMNS = {
  i: { type: 'int', values: [1, 2, 3] },
  b: { type: 'bigint', values: [9007199254740993n, 2, 3] },
  t: { type: 'text', values: ['a', 'b,c', 'd"e'] },
  u: {
    type: 'uuid',
    values: [1, 2, 3].map((n) => `00000000-0000-0000-0000-00000000000${n}`),
  },
  d: { type: 'date', values: ['2024-01-01', '2024-01-02', '2024-01-03'] },
  f: { type: 'boolean', values: [true, false, null] },
} as const;

type Name = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Name[];
const literal = (value: unknown) => (value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`);
const json = (values: readonly unknown[]) =>
  `[${values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join(', ')}]`;
const texts = (values: readonly unknown[]) =>
  JSON.stringify(values.map((value) => (value === null ? null : String(value))));
const array = (values: readonly unknown[]) =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`)).join(',')}}`;
const FORMS = { 'a JSON list': json, 'a JSON list of texts': texts, 'an array of Postgres': array };

let world: RuleWorld;
beforeAll(async () => {
  const rows = [0, 1, 2].map(
    (row) => `(${row}, ${NAMES.map((name) => literal(COLUMNS[name].values[row])).join(', ')})`,
  );
  world = await startWorld({
    sql: `create table item (id int primary key, ${NAMES.map((name) => `${name} ${COLUMNS[name].type}`).join(', ')}, tags text[]);
      insert into item values ${rows.map((row) => row.replace(/\)$/, ", '{x,y}')")).join(', ')};`,
    tables: ['item'],
    options: {
      jwtSecret: jwtSecret.parse(JSON.stringify({ type: 'HS256', key: KEY, claims_namespace: 'claims' })),
    },
    operations: [
      ...NAMES.flatMap((name) =>
        ['_in', '_nin'].map(
          (operator) =>
            [
              'pg_create_select_permission',
              {
                table: 'item',
                role: `${name}${operator}`,
                permission: { columns: ['id'], filter: { [name]: { [operator]: 'X-Engine-List' } } },
              },
            ] as const,
        ),
      ),
      [
        'pg_create_select_permission',
        {
          table: 'item',
          role: 'tags',
          permission: { columns: ['id'], filter: { tags: { _contains: 'X-Engine-List' } } },
        },
      ],
    ],
  });
});
afterAll(() => world?.close());

const idsOf = async (role: string, headers: Record<string, string>) => {
  const outcome = await graphqlOutcome(world.engine, '{ item { id } }', { role, headers });
  return 'data' in outcome
    ? (outcome.data as { item: { id: number }[] }).item.map(({ id }) => id).sort()
    : outcome;
};

describe.each(NAMES)('a list for %s', (name) => {
  const { values } = COLUMNS[name];
  test.each(Object.entries(FORMS))('in the form of %s', async (_, form) => {
    for (const chosen of [[0], [0, 1], [], [0, 1, 2]]) {
      const list = chosen.map((i) => values[i]!).filter((value) => value !== null);
      const within = chosen.filter((i) => values[i] !== null);
      const outside = [0, 1, 2].filter((i) => !chosen.includes(i) && values[i] !== null);
      // A null equals nothing, but no list is without a match for NOT IN an empty one.
      const beside = list.length === 0 ? [0, 1, 2] : outside;
      const headers = { 'x-engine-list': form(list) };
      expect(await idsOf(`${name}_in`, headers), headers['x-engine-list']).toEqual(within);
      expect(await idsOf(`${name}_nin`, headers), headers['x-engine-list']).toEqual(beside);
    }
  });
});

test('a value that no item of the type is, is an error of the data', async () => {
  for (const list of ['["x"]', '{x}', '[{"a": 1}]', '[[1]]']) {
    expect(await idsOf('i_in', { 'x-engine-list': list }), list).toMatchObject({ code: 'data-exception' });
  }
});

test('a list is also the value of an array column', async () => {
  for (const list of ['["x"]', '{x}', '["y", "x"]']) {
    expect(await idsOf('tags', { 'x-engine-list': list }), list).toEqual([0, 1, 2]);
  }
  expect(await idsOf('tags', { 'x-engine-list': '["z"]' })).toEqual([]);
});

test.each([
  ['an array', [1, 2], [0, 1]],
  ['an array of texts', ['1', '3'], [0, 2]],
  ['an array of Postgres in a text', '{2}', [1]],
  ['a text with a JSON list', '[3]', [2]],
  ['an empty array', [], []],
])('a claim of a token that is %s', async (_, claim, ids) => {
  const token = await new SignJWT({
    claims: {
      'x-engine-allowed-roles': ['i_in'],
      'x-engine-default-role': 'i_in',
      'x-engine-list': claim,
    },
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(KEY));
  const response = await fetch(`${world.engine.url}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: '{ item { id } }' }),
  });
  const { data } = (await response.json()) as { data: { item: { id: number }[] } };
  expect(data.item.map(({ id }) => id).sort()).toEqual(ids);
});
