/** Tests requests at the limits of Postgres (1,664 columns of a result, 100 arguments, 65,535 parameters, depth) and
 *  of the engine: each is answered, or refused with the limit it exceeds. None fails unexpectedly. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;
const WIDE = 1500;

beforeAll(async () => {
  await database.sql(`
    create table item (id int primary key, name text, data jsonb, up int references item);
    insert into item select i, 'n' || i, '{"a": 1}', 1 from generate_series(1, 3) i;
    create table wide (id int primary key, ${Array.from({ length: WIDE }, (_, i) => `c${i} int`).join(', ')});
    insert into wide (id) values (1);
    create function twice(item) returns text language sql stable as $$ select $1.name || $1.name $$`);
  engine = await startTestEngine({
    databaseUrl: database.url,
    experimentalFeatures: ['group_by'],
    liveQueriesMultiplexedRefetchInterval: 100,
  });
  for (const table of ['item', 'wide']) await engine.must('pg_track_table', { table });
  await engine.must('pg_create_object_relationship', {
    table: 'item',
    name: 'parent',
    using: { foreign_key_constraint_on: 'up' },
  });
  await engine.must('pg_create_array_relationship', {
    table: 'item',
    name: 'children',
    using: { foreign_key_constraint_on: { table: 'item', column: 'up' } },
  });
  await engine.must('pg_add_computed_field', {
    table: 'item',
    name: 'twice',
    definition: { function: 'twice' },
  });
  await engine.must('pg_create_select_permission', {
    table: 'item',
    role: 'user',
    permission: { columns: '*', filter: { id: { _gt: 0 } }, allow_aggregations: true },
  });
});
afterAll(() => engine.close());

const times = (count: number, of: (i: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, i) => of(i)).join(between);
const deep = (count: number, of: (inner: string) => string, innermost: string) => {
  const [before = '', after = ''] = of('|').split('|');
  return before.repeat(count) + innermost + after.repeat(count);
};
const list = (count: number) => Array.from({ length: count }, (_, i) => i);

type Way = [name: string, body: string];
const ask = (query: string, variables?: object) => JSON.stringify({ query, variables });
const WAYS: Way[] = [
  [
    '1,665 roots',
    ask(
      `{ ${times(1665, (i) => `r${i}: item_by_pk(pk_columns: 1) { id }`)} }`.replaceAll('pk_columns', 'id'),
    ),
  ],
  ['5,000 roots', ask(`{ ${times(5000, (i) => `r${i}: item { id }`)} }`)],
  [
    '1,700 mutations',
    ask(
      `mutation { ${times(1700, (i) => `r${i}: update_item_by_pk(pk_columns: {id: 1}, _set: {name: "a"}) { id }`)} }`,
    ),
  ],
  ['1,700 columns', ask(`{ item { ${times(1700, (i) => `c${i}: id`)} } }`)],
  ['5,000 columns', ask(`{ item { ${times(5000, (i) => `c${i}: id`)} } }`)],
  ['a wide table', ask(`{ wide { ${times(WIDE, (i) => `c${i}`)} } }`)],
  [
    'a wide table that is written',
    ask(
      `mutation { insert_wide(objects: {id: 2, ${times(WIDE, (i) => `c${i}: ${i}`, ', ')}}) { returning { ${times(WIDE, (i) => `c${i}`)} } } }`,
    ),
  ],
  [
    'a wide table that is updated',
    ask(
      `mutation { update_wide(where: {id: {_eq: 2}}, _set: {${times(WIDE, (i) => `c${i}: ${i}`, ', ')}}) { affected_rows } }`,
    ),
  ],
  ['200 relationships', ask(`{ item { ${times(200, (i) => `c${i}: parent { id }`)} } }`)],
  ['1,700 aggregates', ask(`{ item_aggregate { aggregate { ${times(1700, (i) => `c${i}: count`)} } } }`)],
  [
    '1,700 aggregated columns',
    ask(`{ item_aggregate { aggregate { max { ${times(1700, (i) => `c${i}: id`)} } } } }`),
  ],
  ['1,700 orders', ask(`{ item(order_by: [${times(1700, () => '{id: asc}', ', ')}]) { id } }`)],
  [
    'counted columns of a wide table',
    ask(
      `{ wide_aggregate { aggregate { count(columns: [${times(WIDE, (i) => `c${i}`, ', ')}], distinct: true) } } }`,
    ),
  ],
  ['a list of 70,000', ask(`{ item(where: {id: {_in: [${list(70_000).join(',')}]}}) { id } }`)],
  [
    'a list of 70,000 in a variable',
    ask('query ($l: [Int!]) { item(where: {id: {_in: $l}}) { id } }', { l: list(70_000) }),
  ],
  [
    '70,000 conditions',
    ask(`{ item(where: {_or: [${times(70_000, (i) => `{id: {_eq: ${i}}}`, ',')}]}) { id } }`),
  ],
  [
    '2,000 nots',
    ask(`{ item(where: ${deep(2000, (inner) => `{_not: ${inner}}`, '{id: {_eq: 1}}')}) { id } }`),
  ],
  [
    '50,000 nots',
    ask(`{ item(where: ${deep(50_000, (inner) => `{_not: ${inner}}`, '{id: {_eq: 1}}')}) { id } }`),
  ],
  [
    'nots in a variable',
    `{"query": "query ($w: item_bool_exp) { item(where: $w) { id } }", "variables": {"w": ${deep(2000, (inner) => `{"_not": ${inner}}`, '{"id": {"_eq": 1}}')}}}`,
  ],
  [
    '50,000 nots in a variable',
    `{"query": "query ($w: item_bool_exp) { item(where: $w) { id } }", "variables": {"w": ${deep(50_000, (inner) => `{"_not": ${inner}}`, '{"id": {"_eq": 1}}')}}}`,
  ],
  ['100 levels', ask(`{ item ${deep(100, (inner) => `{ parent ${inner} }`, '{ id }')} }`)],
  ['2,000 levels', ask(`{ item ${deep(2000, (inner) => `{ parent ${inner} }`, '{ id }')} }`)],
  ['50,000 levels', ask(`{ item ${deep(50_000, (inner) => `{ parent ${inner} }`, '{ id }')} }`)],
  [
    '50,000 lists',
    ask(`{ item(where: {data: {_eq: ${deep(50_000, (inner) => `[${inner}]`, '1')}}}) { id } }`),
  ],
  [
    'a value of 5,000 lists',
    ask(`{ item(where: {data: {_eq: ${deep(5000, (inner) => `[${inner}]`, '1')}}}) { id } }`),
  ],
  [
    'a variable of 5,000 lists',
    `{"query": "query ($d: jsonb) { item(where: {data: {_eq: $d}}) { id } }", "variables": {"d": ${deep(5000, (inner) => `[${inner}]`, '1')}}}`,
  ],
  [
    'a variable of 200,000 lists',
    `{"query": "query ($d: jsonb) { item(where: {data: {_eq: $d}}) { id } }", "variables": {"d": ${deep(200_000, (inner) => `[${inner}]`, '1')}}}`,
  ],
  [
    'a variable of a deep type',
    ask(`query ($d: ${deep(50_000, (inner) => `[${inner}]`, 'Int')}) { item { id } }`),
  ],
  ['a body of 200,000 lists', deep(200_000, (inner) => `[${inner}]`, '1')],
  [
    'rows along 100 relationships',
    ask(
      `mutation { insert_item(objects: ${deep(100, (inner) => `{id: 9, parent: {data: ${inner}}}`, '{id: 8}')}) { affected_rows } }`,
    ),
  ],
  [
    'rows along 2,000 relationships',
    ask(
      `mutation { insert_item(objects: ${deep(2000, (inner) => `{id: 9, parent: {data: ${inner}}}`, '{id: 8}')}) { affected_rows } }`,
    ),
  ],
  [
    '2,000 fragments in each other',
    ask(
      `{ item { ...f0 } } ${times(2000, (i) => `fragment f${i} on item { ${i < 1999 ? `...f${i + 1}` : 'id'} }`)}`,
    ),
  ],
  [
    'fragments that double',
    ask(
      `{ item { ...f0 } } ${times(40, (i) => `fragment f${i} on item { a: parent { ...f${i + 1} } b: parent { ...f${i + 1} } }`)} fragment f40 on item { id }`,
    ),
  ],
  [
    '70,000 variables',
    ask(
      `query (${times(70_000, (i) => `$v${i}: Int = 1`)}) { item(where: {_or: [${times(70_000, (i) => `{id: {_eq: $v${i}}}`, ',')}]}) { id } }`,
    ),
  ],
  [
    '1,700 inserts',
    ask(`mutation { ${times(1700, (i) => `r${i}: insert_item_one(object: {id: ${i + 10_000}}) { id }`)} }`),
  ],
  [
    '40,000 rows with literals',
    ask(
      `mutation { insert_item(objects: [${times(40_000, (i) => `{id: ${i + 50_000}, name: "a"}`, ',')}]) { affected_rows } }`,
    ),
  ],
];

test.each(WAYS)('%s', { timeout: 60_000 }, async (_, body) => {
  const response = await engine.fetch('/v1/graphql', { method: 'POST', body });
  const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
  expect([undefined, 'validation-failed', 'bad-request', 'invalid-json', 'parse-failed']).toContain(
    errors?.[0]?.extensions.code,
  );
});

test('more root fields than a result has columns are answered by several statements', async () => {
  const query = `{ ${times(1665, (i) => `r${i}: item_by_pk(id: 1) { id }`)} }`;
  const { data } = await engine.graphql(query, { role: 'user' });
  expect(Object.entries(data ?? {})).toEqual(list(1665).map((i) => [`r${i}`, { id: 1 }]));
});
