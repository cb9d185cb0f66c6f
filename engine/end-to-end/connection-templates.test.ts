/** Tests connection templates: requests use the connection that the template selects, and no other. Reference:
 *  docs/reference/behaviour/metadata-api.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket, type TestSocket } from '../../testing/websocket.ts';

const TEMPLATE = `
  {{ if $.request.headers?["x-fresh"] == "true" }} {{ $.primary }}
  {{ elif $.request.headers?["x-place"] == "Zürich" }} {{ $.primary }}
  {{ elif $.request.query.operation_type == "mutation" }}
    {{ if $.request.query?.operation_name == "astray" }} {{ $.read_replicas }} {{ else }} {{ $.default }} {{ end }}
  {{ elif $.request.session?["x-engine-tenant"] == "nowhere" }} {{ $.request.session.x-engine-tenant }}
  {{ elif $.connection_set?[$.request.session.x-engine-tenant] != null }}
    {{ $.connection_set[$.request.session.x-engine-tenant] }}
  {{ else }} {{ $.default }} {{ end }}`;

const NAMES = ['primary', 'replica', 'red', 'blue'] as const;
type Name = (typeof NAMES)[number];
const databases = new Map<Name, TestDatabase>();
const urlOf = (name: Name) => databases.get(name)!.url;
const configuration = (template: string | null) => ({
  connection_info: { database_url: urlOf('primary') },
  read_replicas: [{ database_url: urlOf('replica') }],
  connection_set: (['red', 'blue'] as const).map((name) => ({
    name,
    connection_info: { database_url: urlOf(name) },
  })),
  ...(template !== null && { connection_template: { template } }),
});
const change = (template: string | null) =>
  engine.admin('pg_update_source', { name: 'default', configuration: configuration(template) });

let engine: TestEngine;

beforeAll(async () => {
  for (const name of NAMES) {
    const database = await createDatabase();
    databases.set(name, database);
    await database.sql(
      `create table place (id int primary key, name text not null); insert into place values (1, '${name}')`,
    );
  }
  engine = await startTestEngine({ databaseUrl: urlOf('primary') });
  expect(await change(TEMPLATE)).toMatchObject({ status: 200 });
  await engine.admin('pg_track_table', { table: 'place' });
  const all = { columns: '*', filter: {} };
  await engine.admin('pg_create_select_permission', { table: 'place', role: 'user', permission: all });
  const check = { columns: '*', filter: {}, check: null };
  await engine.admin('pg_create_update_permission', { table: 'place', role: 'user', permission: check });
});
afterAll(async () => {
  await engine.close();
  for (const database of databases.values()) await database.drop();
});

const as = (tenant: string, more: object = {}) => ({
  role: 'user',
  headers: { 'x-engine-tenant': tenant, ...more },
});
const placeOf = async (options: Parameters<TestEngine['graphql']>[1]) => {
  const { data, errors } = await engine.graphql<{ place: { name: string }[] }>('{ place { name } }', options);
  return data?.place[0]?.name ?? errors;
};

describe('a query goes to', () => {
  test.each([
    ['the member of the connection set its session names', as('red'), 'red'],
    ['another for another session', as('blue'), 'blue'],
    ['the primary where its headers ask for it', as('red', { 'X-Fresh': 'true' }), 'primary'],
    // Clients of Node send one byte for each character.
    [
      'the primary where a header has text beyond ASCII',
      as('red', { 'x-place': 'Z\u00c3\u00bcrich' }),
      'primary',
    ],
    ['a read replica by default', as('green'), 'replica'],
    [
      'a read replica by default when an administrator asks',
      { headers: { 'x-engine-tenant': 'red' } },
      'replica',
    ],
  ] as const)('%s', async (_, options, place) => {
    expect(await placeOf(options)).toBe(place);
  });
});

test('the text of a client never selects a connection', async () => {
  expect(await placeOf(as('nowhere'))).toEqual([
    {
      message: expect.stringContaining('Expected one of $.primary'),
      extensions: { path: '$', code: 'template-resolution-failed' },
    },
  ]);
  expect(await placeOf(as('constructor'))).toBe('replica');
});

test('a session without a variable of the template is refused', async () => {
  expect(await placeOf({ role: 'user' })).toMatchObject([
    {
      message: "'Object' has no attribute 'x-engine-tenant'.",
      extensions: { code: 'template-resolution-failed' },
    },
  ]);
});

test('a mutation uses the primary by default, and never a replica', async () => {
  const mutation = (name: string) =>
    `mutation ${name} { update_place(where: {}, _set: {name: "primary"}) { affected_rows } }`;
  expect(await engine.graphql(mutation('mine'), as('red'))).toEqual({
    data: { update_place: { affected_rows: 1 } },
  });
  expect(await placeOf(as('red'))).toBe('red');
  expect(await engine.graphql(mutation('astray'), as('red'))).toMatchObject({
    errors: [
      {
        message: 'a mutation cannot go to read replicas',
        extensions: { code: 'template-resolution-failed' },
      },
    ],
  });
});

test('subscriptions with different connections do not share answers, and follow a changed template', async () => {
  const watch = async (tenant: string) => {
    const headers = {
      'x-engine-admin-secret': engine.adminSecret,
      'x-engine-role': 'user',
      'x-engine-tenant': tenant,
    };
    const socket = await openSocket(engine.url, 'graphql-transport-ws');
    socket.send({ type: 'connection_init', payload: { headers } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { place { name } }' } });
    return socket;
  };
  const [red, blue] = [await watch('red'), await watch('blue')];
  const places = async () => Promise.all([red, blue].map(placeFrom));
  expect(await places()).toEqual(['red', 'blue']);
  const swapped =
    '{{ if $.request.session.x-engine-tenant == "red" }} {{ $.connection_set.blue }} {{ else }} {{ $.primary }} {{ end }}';
  await change(swapped);
  expect(await places()).toEqual(['blue', 'primary']);
  await change(TEMPLATE);
  expect(await places()).toEqual(['red', 'blue']);
  red.close();
  blue.close();
});

/** Returns the place in the next result. */
async function placeFrom(socket: TestSocket): Promise<unknown> {
  const { type, payload } = await socket.next(20_000);
  if (type !== 'next') return placeFrom(socket);
  return (payload as { data: { place: { name: string }[] } }).data.place[0]?.name;
}

describe('an invalid template is refused when it is stored', () => {
  const connection_info = { database_url: 'postgres://nobody@127.0.0.1:1/x' };
  const twice = {
    connection_info,
    connection_set: ['red', 'blue', 'red'].map((name) => ({ name, connection_info })),
  };
  const unreadable = { connection_info, connection_template: { template: '{{ if' } };
  const source = (configuration: object) => ({
    name: 'default',
    kind: 'postgres',
    configuration,
    tables: [],
  });

  test.each<[string, (configuration: object) => object, string]>([
    ['pg_update_source', (configuration) => ({ name: 'default', configuration }), '$.args.'],
    ['pg_add_source', (configuration) => ({ name: 'other', configuration }), '$.args.'],
    [
      'replace_metadata',
      (configuration) => ({ version: 3, sources: [source(configuration)] }),
      '$.args.sources[0].',
    ],
    [
      'patch_metadata',
      (configuration) => {
        const { tables: _, ...definition } = source(configuration);
        return { put: [{ key: 'source/default', definition }] };
      },
      '$.args.put[0].definition.',
    ],
  ])('by %s', async (type, args, path) => {
    expect((await engine.admin(type, args(twice))).body).toMatchObject({
      code: 'parse-failed',
      path: `${path}configuration.connection_set[2].name`,
      error: expect.stringContaining('connection: red'),
    });
    expect((await engine.admin(type, args(unreadable))).body).toMatchObject({
      code: 'parse-failed',
      path: `${path}configuration.connection_template.template`,
      error: expect.stringContaining('the template cannot be read'),
    });
    expect(await placeOf(as('red'))).toBe('red');
  });
});

describe('pg_test_connection_template', () => {
  const tested = async (session: object, more: object = {}, query: object = { operation_type: 'query' }) => {
    const args = { source_name: 'default', request_context: { headers: { A: 1 }, session, query }, ...more };
    return (await engine.admin('pg_test_connection_template', args)).body;
  };

  test('shows which connection a request would use', async () => {
    expect(await tested({ 'x-engine-tenant': 'red' })).toEqual({
      result: { routing_to: 'connection_set', value: 'red' },
    });
    expect(await tested({ 'X-Engine-Tenant': 'green' })).toEqual({
      result: { routing_to: 'default', value: null },
    });
    const template = {
      template:
        '{{ if $.request.headers.a == 1 }} {{ $.read_replicas }} {{ else }} {{ $.primary }} {{ end }}',
    };
    const other = { connection_template: template };
    expect(await tested({}, other)).toEqual({ result: { routing_to: 'read_replicas', value: null } });
  });

  test.each<[string, object, object, string, string]>([
    [
      'a template that cannot be read',
      {},
      { connection_template: { template: '{{ if' } },
      'template-resolution-failed',
      '$.args',
    ],
    [
      'a member that is not there',
      {},
      { connection_template: { template: '{{ $.connection_set.green }}' } },
      'template-resolution-failed',
      '$.args',
    ],
    [
      'a text',
      {},
      { connection_template: { template: '"{{ $.primary }}"' } },
      'template-resolution-failed',
      '$.args',
    ],
    ['a source that is not there', {}, { source_name: 'other' }, 'not-exists', '$.args'],
    ['an administrator', { 'x-engine-role': 'admin' }, {}, 'not-supported', '$.args'],
    [
      'a version that is not there',
      {},
      { connection_template: { version: 2, template: '' } },
      'parse-failed',
      '$.connection_template.version',
    ],
  ])('refuses %s', async (_, session, more, code, path) => {
    expect(await tested(session, more)).toMatchObject({ code, path });
  });
});
