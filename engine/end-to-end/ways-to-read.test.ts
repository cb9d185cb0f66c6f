/** Tests every way to read the rows of a table × every restriction of a select permission: one check for GraphQL,
 *  Relay, REST, the admin API, subscriptions, entities, joins, action relationships, functions and explain. A way
 *  that is missing here may be unrestricted. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { replaceMetadata, startTestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testWorld } from '../../testing/world.ts';

let remote: RemoteService;
let webhook: Server;

/** Restricted roles may read rows 1 and 2, but not row 3. */
const FILTER = { id: { _lt: 3 } };
const PERMISSIONS = {
  hidden: {
    columns: ['id', 'num', 'org_id'],
    filter: FILTER,
    query_root_fields: [],
    subscription_root_fields: [],
    allow_aggregations: true,
  },
  keyed: {
    columns: ['id', 'num', 'org_id'],
    filter: FILTER,
    query_root_fields: ['select_by_pk'],
    subscription_root_fields: ['select_by_pk'],
    allow_aggregations: true,
  },
  plain: { columns: ['id', 'num', 'org_id'], filter: FILTER, limit: 1 },
  counting: { columns: ['id', 'num', 'org_id'], filter: FILTER, limit: 1, allow_aggregations: true },
  rated: { columns: ['id', 'num', 'org_id'], filter: {}, allow_aggregations: true },
};
type Role = keyof typeof PERMISSIONS | 'none';

/** The start of a read: a root field, or another row, webhook or service that leads to the table. */
type Start = 'select' | 'select_by_pk' | 'select_aggregate' | 'select_stream' | 'elsewhere';
type Ask = (role: Role, column: string) => Promise<unknown>;
type Way = readonly [name: string, start: Start, ask: Ask];

const asRole = (role: Role) => ({ 'content-type': 'application/json', 'x-engine-role': role });
const graphql =
  (query: (column: string) => string): Ask =>
  (role, column) =>
    engine.graphql(query(column), { role });
const post = async (path: string, body: unknown, role?: Role) => {
  const headers = role ? asRole(role) : { 'content-type': 'application/json' };
  return (await engine.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
};
const relay =
  (query: (column: string) => string): Ask =>
  (role, column) =>
    post('/v1beta1/relay', { query: query(column) }, role);
const admin =
  (path: string, type: string, args: (column: string) => object): Ask =>
  (role, column) => {
    return post(path, { type, args: { source: 'default', table: 'item', ...args(column) } }, role);
  };
/** Explains a query: shows whether the role may run it at all, not which rows it gets. */
const explained =
  (query: (column: string) => string): Ask =>
  (role, column) => {
    return post('/v1/graphql/explain', { query: { query: query(column) }, user: { 'x-engine-role': role } });
  };
const NODE_ID = Buffer.from('[1,"public","item",1]').toString('base64');

const WAYS: readonly Way[] = [
  ['a query', 'select', graphql((c) => `{ item { ${c} } }`)],
  ['a row by its key', 'select_by_pk', graphql((c) => `{ item_by_pk(id: 1) { ${c} } }`)],
  ['nodes of an aggregate', 'select_aggregate', graphql((c) => `{ item_aggregate { nodes { ${c} } } }`)],
  [
    'a count',
    'select_aggregate',
    graphql((c) => `{ item_aggregate(where: {${c}: {_is_null: false}}) { aggregate { count } } }`),
  ],
  [
    'an aggregate of a column',
    'select_aggregate',
    graphql((c) => `{ item_aggregate { aggregate { max { ${c} } } } }`),
  ],
  ['groups', 'select_aggregate', graphql((c) => `{ item_group_by(keys: [${c}]) { keys { ${c} } } }`)],
  ['a connection', 'select', relay((c) => `{ item_connection { edges { node { ${c} } } } }`)],
  ['a node', 'select_by_pk', relay((c) => `{ node(id: "${NODE_ID}") { ... on item { ${c} } } }`)],
  [
    'an entity',
    'select_by_pk',
    graphql((c) => `{ _entities(representations: [{__typename: "item", id: 1}]) { ... on item { ${c} } } }`),
  ],
  [
    'a REST endpoint',
    'select',
    async (role, column) => (await engine.fetch(`/api/rest/${column}`, { headers: asRole(role) })).json(),
  ],
  ['select of /v1/query', 'select', admin('/v1/query', 'select', (c) => ({ columns: [c] }))],
  ['select of /v2/query', 'select', admin('/v2/query', 'select', (c) => ({ columns: [c] }))],
  [
    'select within a bulk',
    'select',
    (role, c) =>
      post(
        '/v1/query',
        { type: 'bulk', args: [{ type: 'select', args: { table: 'item', columns: [c] } }] },
        role,
      ),
  ],
  [
    'count of /v1/query',
    'select_aggregate',
    admin('/v1/query', 'count', (c) => ({ where: { [c]: { _is_null: false } } })),
  ],
  [
    'count of /v2/query',
    'select_aggregate',
    admin('/v2/query', 'count', (c) => ({ where: { [c]: { _is_null: false } } })),
  ],
  [
    'a distinct count of /v1/query',
    'select_aggregate',
    admin('/v1/query', 'count', (c) => ({ distinct: [c] })),
  ],
  ['an explained query', 'select', explained((c) => `{ item { ${c} } }`)],
  ['a subscription', 'select', explained((c) => `subscription { item { ${c} } }`)],
  [
    'a subscription to a row',
    'select_by_pk',
    explained((c) => `subscription { item_by_pk(id: 1) { ${c} } }`),
  ],
  [
    'a subscription to a count',
    'select_aggregate',
    explained((c) => `subscription { item_aggregate { aggregate { max { ${c} } } } }`),
  ],
  [
    'a stream',
    'select_stream',
    explained(
      (c) => `subscription { item_stream(batch_size: 1, cursor: {initial_value: {id: 0}}) { ${c} } }`,
    ),
  ],
  ['a relationship', 'elsewhere', graphql((c) => `{ org { items { ${c} } } }`)],
  [
    'a relationship of /v1/query',
    'elsewhere',
    (role, c) =>
      post(
        '/v1/query',
        { type: 'select', args: { table: 'org', columns: [{ name: 'items', columns: [c] }] } },
        role,
      ),
  ],
  [
    'a connection of a relationship',
    'elsewhere',
    relay((c) => `{ org_connection { edges { node { items_connection { edges { node { ${c} } } } } } } }`),
  ],
  ['a function', 'elsewhere', graphql((c) => `{ items_of { ${c} } }`)],
  ['a relationship of an action', 'elsewhere', graphql((c) => `{ act { item { ${c} } } }`)],
  ['a join from a remote schema', 'elsewhere', graphql((c) => `{ far { items { ${c} } } }`)],
];

afterAll(async () => {
  await remote?.close();
  webhook?.close();
});

const { database, engine } = testWorld(
  async (database) => {
    await database.sql(`
    create table org (id int primary key);
    create table item (id int primary key, num int, secret int, org_id int references org);
    insert into org values (1);
    insert into item select i, i, i, 1 from generate_series(1, 3) i;
    create function items_of() returns setof item language sql stable as $$ select * from item $$;`);
    remote = await startRemote('type Query { far: Far } type Far { org: Int }', {
      'Query.far': () => ({ org: 1 }),
    });
    webhook = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"org": 1}');
    }).listen(0, '127.0.0.1');
    await once(webhook, 'listening');
  },
  () => ({ experimentalFeatures: ['group_by', 'apollo_federation'] }),
);

beforeAll(async () => {
  const { port } = webhook.address() as AddressInfo;
  const roles = [...Object.keys(PERMISSIONS), 'none'];
  const table = (name: string) => ({ schema: 'public', name });
  const source = {
    tables: [
      {
        table: table('item'),
        apollo_federation_config: { enable: 'v1' },
        select_permissions: Object.entries(PERMISSIONS).map(([role, permission]) => ({
          role,
          permission,
        })),
      },
      {
        table: table('org'),
        array_relationships: [
          { name: 'items', using: { foreign_key_constraint_on: { table: 'item', column: 'org_id' } } },
        ],
        select_permissions: roles.map((role) => ({ role, permission: { columns: '*', filter: {} } })),
      },
    ],
    functions: [{ function: 'items_of' }],
  };
  const parts = {
    custom_types: {
      objects: [
        {
          name: 'Acted',
          fields: [{ name: 'org', type: 'Int!' }],
          relationships: [
            { name: 'item', type: 'array', remote_table: table('item'), field_mapping: { org: 'org_id' } },
          ],
        },
      ],
    },
    actions: [
      {
        name: 'act',
        definition: {
          kind: 'synchronous',
          type: 'query',
          handler: `http://127.0.0.1:${port}/`,
          output_type: 'Acted',
        },
        permissions: roles.map((role) => ({ role })),
      },
    ],
    remote_schemas: [
      {
        name: 'far',
        definition: { url: remote.url },
        permissions: roles.map((role) => ({
          role,
          definition: { schema: 'type Query { far: Far } type Far { org: Int }' },
        })),
        remote_relationships: [
          {
            type_name: 'Far',
            relationships: [
              {
                name: 'items',
                definition: {
                  to_source: {
                    source: 'default',
                    table: table('item'),
                    relationship_type: 'array',
                    field_mapping: { org: 'org_id' },
                  },
                },
              },
            ],
          },
        ],
      },
    ],
    query_collections: [
      {
        name: 'rest',
        definition: { queries: ['num', 'secret'].map((name) => ({ name, query: `{ item { ${name} } }` })) },
      },
    ],
    rest_endpoints: ['num', 'secret'].map((name) => ({
      name,
      url: name,
      methods: ['GET'],
      definition: { query: { collection_name: 'rest', query_name: name } },
    })),
    api_limits: { rate_limit: { per_role: { rated: { max_reqs_per_min: 0 } } } },
  };
  expect(await replaceMetadata(engine, source, parts)).toMatchObject({
    status: 200,
    body: { is_consistent: true },
  });
});

const isRefused = (answer: unknown) => /"errors":|"error":|"code":/.test(JSON.stringify(answer));

/** Returns every number of the answer under `num` or `count`, or in a group or a maximum. */
function numbersIn(answer: unknown): readonly number[] {
  return [...JSON.stringify(answer).matchAll(/"(?:num|count)":(\d+)/g)].map(([, digits]) => Number(digits));
}

/** Undefined if the role has no permission on the table, or is limited in everything it does. */
const ALLOWED: Readonly<Record<keyof typeof PERMISSIONS, readonly Start[]>> = {
  hidden: ['elsewhere'],
  keyed: ['select_by_pk', 'elsewhere'],
  plain: ['select', 'select_by_pk', 'select_stream', 'elsewhere'],
  counting: ['select', 'select_by_pk', 'select_stream', 'select_aggregate', 'elsewhere'],
  rated: [],
};

describe.each(WAYS)('%s', (name, start, ask) => {
  const isExplained = /explained|subscription|stream/.test(name);

  test.each(Object.entries(ALLOWED))(
    'as %s is allowed with a permission of its own',
    async (role, starts) => {
      // The administrator explains for a role, and is not limited.
      if (role === 'rated' && isExplained) return;
      const answer = await ask(role as Role, 'num');
      expect(isRefused(answer), JSON.stringify(answer)).toBe(!starts.includes(start));
    },
  );

  test('is refused without a permission', async () => {
    expect(isRefused(await ask('none', 'num'))).toBe(true);
  });

  test('is refused for a column the role may not read', async () => {
    const answer = await ask('counting', 'secret');
    expect(isRefused(answer), JSON.stringify(answer)).toBe(true);
    expect(isRefused(await ask('counting', 'num'))).toBe(false);
  });

  // Explained reads answer with a statement, not with rows.
  if (isExplained) return;

  test('gives the rows of the filter, and no more of them than the limit', async () => {
    const numbers = numbersIn(await ask('counting', 'num'));
    expect(numbers.length).toBe(1);
    // A count and a maximum include all rows of the filter.
    const isOverAll = start === 'select_aggregate' && !/nodes|groups/.test(name);
    expect(numbers[0]).toBeLessThanOrEqual(2);
    if (isOverAll) expect(numbers[0]).toBe(2);
  });

  test('gives an administrator every row', async () => {
    expect(Math.max(...numbersIn(await ask('admin' as Role, 'num')))).toBe(start === 'select_by_pk' ? 1 : 3);
  });
});

test('--count-without-aggregations lets a role count what it may select', async () => {
  const other = await startTestEngine({
    databaseUrl: database.url,
    adminSecret: engine.adminSecret,
    countWithoutAggregations: true,
  });
  const count = { type: 'count', args: { source: 'default', table: 'item' } };
  const init = { method: 'POST', headers: asRole('plain'), body: JSON.stringify(count) };
  expect(await (await other.fetch('/v1/query', init)).json()).toEqual({ count: 2 });
  await other.close();
});
