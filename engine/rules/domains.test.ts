/** Tests columns of a domain: the conditions of the domain are about the values that the column holds. A value outside them may be
 *  compared with the column and added to it; only what is stored must satisfy them. Reference: docs/reference/behaviour/schema.md,
 *  "Scalars"; PostgreSQL manual, "Domain Types". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const UUID = "'00000000-0000-0000-0000-000000000001'";

/** A source whose rows name items by numbers that the domain of the key excludes, and by one that it does not. */
const other = testDatabase();
let world: RuleWorld;
beforeAll(async () => {
  await other.sql(
    'create table mention (id int primary key, item_id int, size int); insert into mention values (1, -1, 5), (2, 1, 5), (3, 0, 0)',
  );
  world = await startWorld({
    sql: `create domain positive as int check (value > 0); create domain smaller as positive check (value < 100);
      create domain address as text check (value like '%@%'); create domain labels as text[] check (cardinality(value) > 0);
      create domain document as jsonb check (value ? 'a'); create domain day as date; create domain code as uuid;
      create table item (id positive primary key, size smaller, mail address, tags labels, doc document, due day, day date, code code, uuid uuid, texts text[]);
      insert into item values (1, 5, 'a@b', '{x,y}', '{"a": 1}', '2024-02-29', '2024-02-29', ${UUID}, ${UUID}, '{x,y}');`,
    tables: ['item'],
    options: { env: { OTHER: other.url } },
    operations: [
      [
        'pg_add_source',
        { name: 'other', configuration: { connection_info: { database_url: { from_env: 'OTHER' } } } },
      ],
      ['pg_track_table', { source: 'other', table: 'mention' }],
      related('other', 'mention', 'item', {
        source: 'default',
        table: 'item',
        field_mapping: { item_id: 'id' },
      }),
      ...Object.entries({ mention: { id: 'item_id' }, mention_pair: { id: 'item_id', size: 'size' } }).map(
        ([name, field_mapping]) =>
          related('default', 'item', name, { source: 'other', table: 'mention', field_mapping }),
      ),
      ...['mention', 'mention_pair'].map(
        (role) =>
          [
            'pg_create_select_permission',
            { table: 'item', role, permission: { columns: '*', filter: { [role]: {} } } },
          ] as const,
      ),
      [
        'pg_create_select_permission',
        {
          table: 'item',
          role: 'reader',
          permission: { columns: '*', filter: { size: { _gt: 'X-Engine-Size' }, id: { _neq: -1 } } },
        },
      ],
      [
        'pg_create_select_permission',
        { table: 'item', role: 'owner', permission: { columns: '*', filter: { id: 'X-Engine-Id' } } },
      ],
    ],
  });
});
afterAll(() => world?.close());

/** The operation that relates rows to an object of another source. */
function related(source: string, table: string, name: string, to: object) {
  const definition = { to_source: { ...to, relationship_type: 'object' } };
  return ['pg_create_remote_relationship', { source, table, name, definition }] as const;
}

const FOUND = [{ id: 1 }];

/** Conditions with an operand that the domain of the column does not have, and whether the row satisfies them. */
const CONDITIONS: readonly (readonly [
  column: string,
  operator: string,
  operand: unknown,
  isFound: boolean,
])[] = [
  ...['id', 'size'].flatMap((column) =>
    (
      [
        ['_eq', 0, false],
        ['_neq', -1, true],
        ['_gt', -1, true],
        ['_gte', 0, true],
        ['_lt', 0, false],
        ['_lte', 1000, true],
        ['_in', [-1, 0], false],
        ['_nin', [-1, 0], true],
      ] as const
    ).map((row) => [column, ...row] as const),
  ),
  ['mail', '_eq', 'a', false],
  ['mail', '_gt', 'a', true],
  ['mail', '_in', ['', 'a@b'], true],
  ['mail', '_like', 'a%', true],
  ['tags', '_neq', [], true],
  ['tags', '_contains', [], true],
  ['tags', '_contained_in', [], false],
  ['tags', '_in', [[], ['x', 'y']], true],
  ['doc', '_neq', {}, true],
  ['doc', '_contains', {}, true],
  ['doc', '_contained_in', { b: 1 }, false],
];

/** Returns a value as a literal of GraphQL. */
const literal = (value: unknown) => JSON.stringify(value).replace(/"(\w+)":/g, '$1:');

describe.each(CONDITIONS)('%s %s %j', (column, operator, operand, isFound) => {
  const data = { item: isFound ? FOUND : [] };

  test('in a request', async () => {
    const text = `{ item(where: {${column}: {${operator}: ${literal(operand)}}}) { id } }`;
    expect(await graphqlOutcome(world.engine, text)).toEqual({ data });
    const variables = { w: { [column]: { [operator]: operand } } };
    const inside = 'query ($w: item_bool_exp!) { item(where: $w) { id } }';
    expect(await graphqlOutcome(world.engine, inside, { variables })).toEqual({ data });
  });

  test('in the row language', async () => {
    const args = { table: 'item', columns: ['id'], where: { [column]: { [operator]: operand } } };
    const rows = await adminOutcome(world.engine, 'select', args, { endpoint: '/v1/query' });
    expect(rows).toEqual({ data: data.item });
  });
});

test.each([
  ['reader', { 'x-engine-size': '-5' }, FOUND],
  ['reader', { 'x-engine-size': '5' }, []],
  ['owner', { 'x-engine-id': '-5' }, []],
  ['owner', { 'x-engine-id': '1' }, FOUND],
])('in a permission of %s with %j', async (role, headers, item) => {
  expect(await graphqlOutcome(world.engine, '{ item { id } }', { role, headers })).toEqual({
    data: { item },
  });
});

test.each([
  ['due', 'day'],
  ['code', 'uuid'],
  ['tags', 'texts'],
  ['id', 'size'],
])('the columns %s and %s can be compared in a permission', async (column, other) => {
  for (const [own, than] of [
    [column, other],
    [other, column],
  ]) {
    const role = `${own}_${than}`;
    const permission = { columns: ['id'], filter: { [own!]: { _clte: than } } };
    const args = { table: 'item', role, permission };
    expect(await adminOutcome(world.engine, 'pg_create_select_permission', args)).toHaveProperty('data');
    const isFound = role !== 'size_id';
    expect(await graphqlOutcome(world.engine, '{ item { id } }', { role })).toEqual({
      data: { item: isFound ? FOUND : [] },
    });
  }
});

test('a key outside the domain is the key of no row', async () => {
  expect(await graphqlOutcome(world.engine, '{ item_by_pk(id: -1) { id } }')).toEqual({
    data: { item_by_pk: null },
  });
  expect(await graphqlOutcome(world.engine, 'mutation { delete_item_by_pk(id: 0) { id } }')).toEqual({
    data: { delete_item_by_pk: null },
  });
});

test('a row of another source may name a key outside the domain', async () => {
  expect(await graphqlOutcome(world.engine, '{ mention(order_by: {id: asc}) { id item { id } } }')).toEqual({
    data: {
      mention: [
        { id: 1, item: null },
        { id: 2, item: { id: 1 } },
        { id: 3, item: null },
      ],
    },
  });
});

test.each(['mention', 'mention_pair'])(
  'so may those that the permission of %s compares with',
  async (role) => {
    expect(await graphqlOutcome(world.engine, '{ item { id } }', { role })).toEqual({
      data: { item: FOUND },
    });
  },
);

test('a global id outside the domain is that of no row', async () => {
  const id = Buffer.from('[1, "public", "item", -1]').toString('base64');
  const body = JSON.stringify({ query: `{ node(id: "${id}") { id } }` });
  const headers = { 'content-type': 'application/json' };
  const response = await world.engine.fetch('/v1beta1/relay', { method: 'POST', headers, body });
  expect(await response.json()).toEqual({ data: { node: null } });
});

test('a stream may begin outside the domain', async () => {
  const query = 'subscription { item_stream(cursor: {initial_value: {size: 0}}, batch_size: 1) { id } }';
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query: { query } });
  const response = await world.engine.fetch('/v1/graphql/explain', { method: 'POST', headers, body });
  expect(response.status).toBe(200);
});

test.each([
  ['_inc: {size: -1}', { size: 4 }],
  ['_inc: {size: 0}', { size: 4 }],
  ['_append: {doc: {}}', { doc: { a: 1 } }],
  ['_prepend: {doc: {b: 1}}', { doc: { a: 1, b: 1 } }],
])('%s: what is stored satisfies the domain', async (operator, row) => {
  const text = `mutation { update_item_by_pk(pk_columns: {id: 1}, ${operator}) { ${Object.keys(row)[0]} } }`;
  expect(await graphqlOutcome(world.engine, text)).toEqual({ data: { update_item_by_pk: row } });
});

test.each([
  '_inc: {size: -4}',
  '_inc: {size: 96}',
  '_set: {size: 0}',
  '_delete_key: {doc: "a"}',
  '_set: {tags: []}',
])('%s: what is stored does not', async (operator) => {
  const text = `mutation { update_item_by_pk(pk_columns: {id: 1}, ${operator}) { id } }`;
  expect(await graphqlOutcome(world.engine, text)).toMatchObject({ code: 'constraint-violation' });
});

test('the row language adds values outside the domain as well', async () => {
  const args = { table: 'item', where: { id: 1 }, $inc: { size: -1 }, returning: ['size'] };
  expect(await adminOutcome(world.engine, 'update', args, { endpoint: '/v1/query' })).toEqual({
    data: { affected_rows: 1, returning: [{ size: 3 }] },
  });
});
