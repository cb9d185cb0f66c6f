/** Tests names that every JavaScript object has, such as `constructor`. As names from clients they are unknown; as
 *  names of tables, columns, variables and endpoints they work like any other. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

const NAMES = [
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'isPrototypeOf',
  '__proto__',
  '__defineGetter__',
  'prototype',
];
/** The names that a GraphQL schema may define: names that start with two underscores are reserved. */
const DEFINABLE = NAMES.filter((name) => !name.startsWith('__'));

const database = testDatabase();
let engine: TestEngine;
/** An engine with tables and columns of these names. */
let named: TestEngine;
const namedDatabase = testDatabase();

const send = async (
  at: TestEngine,
  path: string,
  body: string,
  headers: Record<string, string> = {},
  method = 'POST',
) => {
  const response = await at.fetch(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { body }),
  });
  return { status: response.status, text: await response.text() };
};
const graphql = (query: string, more: object = {}) =>
  send(engine, '/v1/graphql', JSON.stringify({ query, ...more }));

beforeAll(async () => {
  await database.sql(`create table item (id int primary key, name text, data jsonb, parent int references item);
    insert into item values (1, 'a', '{}', null)`);
  const columns = NAMES.map((name) => `"${name}" text`).join(', ');
  await namedDatabase.sql(
    NAMES.map(
      (name) =>
        `create table "${name}" (id int primary key, ${columns}); insert into "${name}" (id) values (1)`,
    ).join(';'),
  );
  engine = await startTestEngine({ databaseUrl: database.url });
  named = await startTestEngine({ databaseUrl: namedDatabase.url });
  const made = (type: string, args: object) => engine.must(type, args);
  await made('pg_track_table', { table: 'item' });
  await made('pg_create_object_relationship', {
    table: 'item',
    name: 'up',
    using: { foreign_key_constraint_on: 'parent' },
  });
  await made('pg_create_array_relationship', {
    table: 'item',
    name: 'down',
    using: { foreign_key_constraint_on: { table: 'item', column: 'parent' } },
  });
  const permission = { columns: '*', filter: { id: { _eq: 'X-Engine-Constructor' } } };
  await made('pg_create_select_permission', { table: 'item', role: 'user', permission });
  const queries = [{ name: 'item', query: 'query ($n: Int) { item(limit: $n) { id } }' }];
  await made('create_query_collection', { name: 'stored', definition: { queries } });
  const definition = { query: { collection_name: 'stored', query_name: 'item' } };
  await made('create_rest_endpoint', { name: 'item', url: 'item', methods: ['GET', 'POST'], definition });
});
afterAll(() => Promise.all([engine?.close(), named?.close()]));

type Ask = (name: string) => Promise<{ readonly status: number; readonly text: string }>;
/** JSON text, because `{__proto__: 1}` in JavaScript creates no such key. */
const args = (type: string, text: string, path = '/v1/metadata') =>
  send(engine, path, `{"type": "${type}", "args": ${text}}`);
const WAYS: [string, Ask][] = [
  ['root field', (n) => graphql(`{ ${n} }`)],
  ['root field with selection', (n) => graphql(`{ ${n} { id } }`)],
  ['mutation field', (n) => graphql(`mutation { ${n} { affected_rows } }`)],
  ['subscription field', (n) => graphql(`subscription { ${n} { id } }`)],
  ['field of a row', (n) => graphql(`{ item { ${n} } }`)],
  ['field of an aggregate', (n) => graphql(`{ item_aggregate { aggregate { ${n} } } }`)],
  ['column of an aggregate', (n) => graphql(`{ item_aggregate { aggregate { max { ${n} } } } }`)],
  ['alias', (n) => graphql(`{ ${n}: item { ${n}: id } }`)],
  ['argument', (n) => graphql(`{ item(${n}: 1) { id } }`)],
  ['column of where', (n) => graphql(`{ item(where: {${n}: {_eq: 1}}) { id } }`)],
  ['operator', (n) => graphql(`{ item(where: {id: {${n}: 1}}) { id } }`)],
  ['jsonb operand', (n) => graphql(`{ item(where: {data: {_contains: {${n}: 1}}}) { id } }`)],
  ['order by', (n) => graphql(`{ item(order_by: {${n}: asc}) { id } }`)],
  ['order', (n) => graphql(`{ item(order_by: {id: ${n}}) { id } }`)],
  ['distinct', (n) => graphql(`{ item(distinct_on: ${n}) { id } }`)],
  ['column of an insert', (n) => graphql(`mutation { insert_item(objects: {${n}: 1}) { affected_rows } }`)],
  [
    'nested insert',
    (n) => graphql(`mutation { insert_item(objects: {id: 9, up: {${n}: {id: 3}}}) { affected_rows } }`),
  ],
  [
    'constraint',
    (n) =>
      graphql(
        `mutation { insert_item(objects: {id: 1}, on_conflict: {constraint: ${n}}) { affected_rows } }`,
      ),
  ],
  [
    'column of a set',
    (n) => graphql(`mutation { update_item(where: {}, _set: {${n}: 1}) { affected_rows } }`),
  ],
  ['update operator', (n) => graphql(`mutation { update_item(where: {}, ${n}: {id: 1}) { affected_rows } }`)],
  ['directive', (n) => graphql(`{ item @${n} { id } }`)],
  ['argument of a directive', (n) => graphql(`{ item @include(${n}: true) { id } }`)],
  ['fragment', (n) => graphql(`{ item { ...${n} } }`)],
  ['defined fragment', (n) => graphql(`{ item { ...${n} } } fragment ${n} on item { id }`)],
  ['type of a fragment', (n) => graphql(`{ item { ... on ${n} { id } } }`)],
  ['type of a variable', (n) => graphql(`query ($a: ${n}) { item(limit: $a) { id } }`)],
  ['variable that is not defined', (n) => graphql(`{ item(limit: $${n}) { id } }`)],
  ['variable that is not given', (n) => graphql(`query ($${n}: Int) { item(limit: $${n}) { id } }`)],
  [
    'variable that is required and not given',
    (n) => graphql(`query ($${n}: Int!) { item(limit: $${n}) { id } }`),
  ],
  [
    'variable that is given',
    (n) =>
      send(
        engine,
        '/v1/graphql',
        `{"query": "query ($${n}: Int) { item(limit: $${n}) { id } }", "variables": {"${n}": 1}}`,
      ),
  ],
  [
    'variable of another name',
    (n) => send(engine, '/v1/graphql', `{"query": "{ item { id } }", "variables": {"${n}": 1}}`),
  ],
  [
    'key of an object variable',
    (n) =>
      send(
        engine,
        '/v1/graphql',
        `{"query": "query ($w: item_bool_exp) { item(where: $w) { id } }", "variables": {"w": {"${n}": {"_eq": 1}}}}`,
      ),
  ],
  [
    'key of an object in a variable',
    (n) =>
      send(
        engine,
        '/v1/graphql',
        `{"query": "query ($w: item_bool_exp) { item(where: $w) { id } }", "variables": {"w": {"id": {"${n}": 1}}}}`,
      ),
  ],
  [
    'key of a row in a variable',
    (n) =>
      send(
        engine,
        '/v1/graphql',
        `{"query": "mutation ($o: [item_insert_input!]!) { insert_item(objects: $o) { affected_rows } }", "variables": {"o": [{"${n}": 1}]}}`,
      ),
  ],
  [
    'enum value in a variable',
    (n) => graphql('query ($o: order_by) { item(order_by: {id: $o}) { id } }', { variables: { o: n } }),
  ],
  ['operation name', (n) => graphql('{ item { id } }', { operationName: n })],
  ['operation', (n) => graphql(`query ${n} { item { id } }`, { operationName: n })],
  [
    'one of two operations',
    (n) => graphql(`query ${n} { item { id } } query b { item { id } }`, { operationName: n }),
  ],
  [
    'key of the request',
    (n) => send(engine, '/v1/graphql', `{"query": "{ item { id } }", "${n}": {"a": 1}}`),
  ],
  ['introspection', (n) => graphql(`{ __type(name: "${n}") { name } }`)],
  ['introspected field', (n) => graphql(`{ __schema { ${n} } }`)],
  [
    'Relay field',
    (n) =>
      send(
        engine,
        '/v1beta1/relay',
        JSON.stringify({ query: `{ ${n} item_connection { edges { ${n} } } }` }),
      ),
  ],
  ['role', (n) => send(engine, '/v1/graphql', '{"query": "{ item { id } }"}', { 'x-engine-role': n })],
  [
    'session variable',
    (n) =>
      send(engine, '/v1/graphql', '{"query": "{ item { id } }"}', {
        'x-engine-role': 'user',
        [`x-engine-${n}`]: '1',
      }),
  ],
  [
    'session variable that is absent',
    () => send(engine, '/v1/graphql', '{"query": "{ item { id } }"}', { 'x-engine-role': 'user' }),
  ],
  ['header', (n) => send(engine, '/v1/graphql', '{"query": "{ item { id } }"}', { [n]: '1' })],
  ['path', (n) => send(engine, `/${n}`, '{}')],
  ['path of REST', (n) => send(engine, `/api/rest/${n}`, '{}', {}, 'GET')],
  ['query string of REST', (n) => send(engine, `/api/rest/item?${n}=1`, '', {}, 'GET')],
  ['body of REST', (n) => send(engine, '/api/rest/item', `{"${n}": 1}`)],
  ['admin operation', (n) => args(n, '{}')],
  ['admin operation on /v1/query', (n) => args(n, '{}', '/v1/query')],
  ['admin operation on /v2/query', (n) => args(n, '{}', '/v2/query')],
  [
    'key of an admin request',
    (n) => send(engine, '/v1/metadata', `{"type": "export_metadata", "args": {}, "${n}": 1}`),
  ],
  ['key of arguments', (n) => args('pg_track_table', `{"table": "none", "${n}": 1}`)],
  ['source', (n) => args('pg_track_table', `{"table": "none", "source": "${n}"}`)],
  ['table to track', (n) => args('pg_track_table', `{"table": "${n}"}`)],
  ['table to untrack', (n) => args('pg_untrack_table', `{"table": "${n}"}`)],
  [
    'table of a permission',
    (n) =>
      args(
        'pg_create_select_permission',
        `{"table": "${n}", "role": "a", "permission": {"columns": "*", "filter": {}}}`,
      ),
  ],
  [
    'column of a permission',
    (n) =>
      args(
        'pg_create_select_permission',
        `{"table": "item", "role": "a", "permission": {"columns": ["${n}"], "filter": {}}}`,
      ),
  ],
  [
    'column of a filter',
    (n) =>
      args(
        'pg_create_select_permission',
        `{"table": "item", "role": "a", "permission": {"columns": "*", "filter": {"${n}": {"_eq": 1}}}}`,
      ),
  ],
  [
    'operator of a filter',
    (n) =>
      args(
        'pg_create_select_permission',
        `{"table": "item", "role": "a", "permission": {"columns": "*", "filter": {"id": {"${n}": 1}}}}`,
      ),
  ],
  [
    'preset',
    (n) =>
      args(
        'pg_create_insert_permission',
        `{"table": "item", "role": "a", "permission": {"columns": "*", "check": {}, "set": {"${n}": 1}}}`,
      ),
  ],
  ['relationship', (n) => args('pg_drop_relationship', `{"table": "item", "relationship": "${n}"}`)],
  [
    'type of an action',
    (n) =>
      args('create_action', `{"name": "act", "definition": {"handler": "http://a", "output_type": "${n}"}}`),
  ],
  [
    'rows',
    (n) =>
      args(
        'select',
        `{"source": "default", "table": "item", "columns": ["${n}"], "where": {"${n}": 1}, "order_by": "${n}"}`,
        '/v2/query',
      ),
  ],
  [
    'rows that are inserted',
    (n) => args('insert', `{"source": "default", "table": "item", "objects": [{"${n}": 1}]}`, '/v2/query'),
  ],
  ['explain', (n) => send(engine, '/v1/graphql/explain', JSON.stringify({ query: { query: `{ ${n} }` } }))],
  [
    'user of explain',
    (n) =>
      send(
        engine,
        '/v1/graphql/explain',
        `{"query": {"query": "{ item { id } }"}, "user": {"x-engine-role": "user", "${n}": "1"}}`,
      ),
  ],
  [
    'session variable of run_sql',
    (n) =>
      args(
        'test_webhook_transform',
        `{"webhook_url": "http://a", "body": {}, "env": {"${n}": "1"}, "session_variables": {"${n}": "a"}, "request_transform": {"version": 2, "body": {"action": "transform", "template": "{{$session_variables?['${n}']}}"}}}`,
      ),
  ],
  [
    'template field',
    (n) =>
      args(
        'test_webhook_transform',
        `{"webhook_url": "http://a", "body": {}, "request_transform": {"version": 2, "body": {"action": "transform", "template": "{{$body.${n}}}"}}}`,
      ),
  ],
  [
    'template function',
    (n) =>
      args(
        'test_webhook_transform',
        `{"webhook_url": "http://a", "body": {}, "request_transform": {"version": 2, "body": {"action": "transform", "template": "{{${n}($body)}}"}}}`,
      ),
  ],
  [
    'template variable',
    (n) =>
      args(
        'test_webhook_transform',
        `{"webhook_url": "http://a", "body": {}, "request_transform": {"version": 2, "body": {"action": "transform", "template": "{{$${n}}}"}}}`,
      ),
  ],
  ['metadata', (n) => args('replace_metadata', `{"version": 3, "sources": [], "${n}": {}}`)],
];

describe.each(NAMES)('%s', (name) => {
  test.each(WAYS)('as %s is no internal error', async (_, ask) => {
    const { status, text } = await ask(name);
    expect([status, text]).toEqual([
      expect.not.toSatisfy((s: number) => s >= 500),
      expect.not.stringMatching(/internal error|unexpected"|native code|TypeError/),
    ]);
  });
});

test.each(NAMES)('a message of type %s over a WebSocket is refused', async (type) => {
  const socket = await openSocket(engine.url, 'graphql-transport-ws');
  socket.send(`{"type": "${type}"}`);
  expect(await socket.closed).toMatchObject({ code: 4400 });
});

describe.each(DEFINABLE)('a table and columns called %s', (name) => {
  const columns = DEFINABLE.join(' ');
  const values = (value: string | null) => Object.fromEntries(DEFINABLE.map((column) => [column, value]));

  beforeAll(async () => {
    await named.must('pg_track_table', { table: name });
    const masked = { columns: ['id', name], filter: { id: { _eq: 1 } } };
    await named.must('pg_create_select_permission', { table: name, role: 'one', permission: masked });
    await named.must('pg_create_select_permission', {
      table: name,
      role: 'other',
      permission: { columns: ['id'], filter: {} },
    });
    await named.must('pg_create_insert_permission', {
      table: name,
      role: 'one',
      permission: { columns: ['id'], check: {}, set: { [name]: 'preset' } },
    });
  });

  test('can be read and written', async () => {
    const object = DEFINABLE.map((column) => `${column}: "a"`).join(', ');
    expect(
      await named.graphql(`mutation {
        insert_${name}(objects: {id: 2, ${object}}, on_conflict: {constraint: ${name}_pkey, update_columns: [${DEFINABLE.join(', ')}]}) {
          returning { id ${columns} } }
        update_${name}(where: {${name}: {_eq: "a"}}, _set: {${name}: "b"}) { returning { ${name} } } }`),
    ).toEqual({
      data: {
        [`insert_${name}`]: { returning: [{ id: 2, ...values('a') }] },
        [`update_${name}`]: { returning: [{ [name]: 'b' }] },
      },
    });
    const query = `query ($w: ${name}_bool_exp) { ${name}(where: $w, order_by: {${name}: asc}, distinct_on: ${name}) { ${columns} }
      ${name}_aggregate { aggregate { count(columns: ${name}) max { ${name} } } } }`;
    expect(await named.graphql(query, { variables: { w: { [name]: { _eq: 'b' } } } })).toEqual({
      data: {
        [name]: [{ ...values('a'), [name]: 'b' }],
        [`${name}_aggregate`]: { aggregate: { count: 1, max: { [name]: 'b' } } },
      },
    });
    await named.graphql(`mutation { delete_${name}(where: {id: {_eq: 2}}) { affected_rows } }`);
  });

  test('have permissions, presets and cells that only some roles see', async () => {
    await named.admin('add_inherited_role', { role_name: `heir_of_${name}`, role_set: ['one', 'other'] });
    expect(await named.graphql(`{ ${name} { ${name} } }`, { role: 'other' })).toMatchObject({
      errors: [{ extensions: { code: 'validation-failed' } }],
    });
    await named.graphql(`mutation { insert_${name}(objects: {id: 3}) { affected_rows } }`, { role: 'one' });
    expect(await namedDatabase.sql(`select "${name}" as value from "${name}" where id = 3`)).toEqual([
      { value: 'preset' },
    ]);
    const query = `{ ${name}(order_by: [{${name}: desc_nulls_last}, {id: asc}]) { id ${name} }
      ${name}_by_pk(id: 3) { ${name} } }`;
    // The cell of row 3 is visible to neither role.
    expect(await named.graphql(query, { role: `heir_of_${name}` })).toEqual({
      data: {
        [name]: [
          { id: 1, [name]: null },
          { id: 3, [name]: null },
        ],
        [`${name}_by_pk`]: { [name]: null },
      },
    });
    await namedDatabase.sql(`delete from "${name}" where id = 3`);
  });

  test('can have custom names', async () => {
    const configuration = { custom_column_names: { id: 'number' } };
    await named.must('pg_set_table_customization', { table: name, configuration });
    expect(await named.graphql(`{ ${name} { number ${columns} } }`)).toEqual({
      data: { [name]: [{ number: 1, ...values(null) }] },
    });
    await named.must('pg_set_table_customization', { table: name, configuration: {} });
  });
});

test('a table with a name that GraphQL reserves is refused, or left out of the schema', async () => {
  for (const name of ['__proto__', '__defineGetter__']) {
    const { status } = await named.admin('pg_track_table', { table: name });
    expect(status).toBeLessThan(500);
    expect((await named.graphql('{ __schema { queryType { name } } }')).data).toBeDefined();
  }
});
