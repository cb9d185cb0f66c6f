/** Tests remote schemas end to end: real services beside a real database, every operation, faults included. */
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { openSession, openSocket } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

const SDL = `
  interface Being { id: ID! name: String }
  type Human implements Being { id: ID! name: String home: String friends(first: Int = 10): [Being!] }
  type Droid implements Being { id: ID! name: String task: Task }
  enum Task { TALK FIGHT }
  union Found = Human | Droid
  scalar Json
  input Near { x: Int! y: Int = 3 tags: [String!] task: Task }
  type Query {
    being(id: ID!): Being
    beings(near: Near, limit: Int = 5): [Being!]!
    search(text: String): [Found]
    echo(json: Json, number: Int, near: Near): String
    broken: String
    strict: String!
  }
  type Mutation { rename(id: ID!, name: String!): Human count: Int }
  type Subscription { ticks: Int }`;

const LUKE = { __typename: 'Human', id: '1', name: 'Luke', home: 'Tatooine' };
const R2 = { __typename: 'Droid', id: '2', name: 'R2-D2', task: 'TALK' };
let count = 0;
const RESOLVERS = {
  'Query.being': (_: unknown, { id }: { id: string }) => [LUKE, R2].find((being) => being.id === id) ?? null,
  'Query.beings': (_: unknown, { limit }: { limit: number }) => [LUKE, R2].slice(0, limit),
  'Query.search': () => [R2, LUKE],
  'Query.echo': (_: unknown, args: object) => JSON.stringify(args),
  'Query.broken': () => {
    throw new Error('it broke');
  },
  'Query.strict': () => 'yes',
  'Human.friends': () => [R2],
  'Mutation.rename': (_: unknown, { name }: { name: string }) => ({ ...LUKE, name }),
  'Mutation.count': () => ++count,
};

let remote: RemoteService;
let other: RemoteService;
const admin = (type: string, args: object) => engine.admin<{ error?: string; code?: string }>(type, args);
const add = (name: string, definition: object = {}) =>
  admin('add_remote_schema', { name, definition: { url: remote.url, ...definition } });
const lastAsked = () => remote.asked.at(-1)!;

afterAll(async () => {
  await remote?.close();
  await other?.close();
});

const { database, engine } = testWorld(
  async (database) => {
    await database.sql(`create table author (id int primary key, name text not null);
    insert into author values (1, 'Ada'), (2, 'Bo');`);
    remote = await startRemote(SDL, RESOLVERS);
    other = await startRemote('type Query { elsewhere: String }', { 'Query.elsewhere': () => 'here' });
  },
  () => ({
    env: {
      REMOTE_URL: remote.url,
      REMOTE_KEY: 'from the environment',
      ENGINE_GRAPHQL_ADMIN_SECRET: 'hush',
    },
    enableRemoteSchemaPermissions: false,
  }),
);
beforeEach(async () => {
  await admin('clear_metadata', {});
  await admin('pg_track_table', { table: 'author' });
});
afterEach(() => remote.misbehave(null));

describe('fields of a remote schema', () => {
  beforeEach(() => add('beings'));

  test('fragments that cannot apply and what a literal skips are not sent', async () => {
    const text = `{ search { ... on Query { nope } } being(id: 1) { name nope @skip(if: true) ...Other } }
      fragment Other on author { nope }`;
    expect(await engine.graphql(text)).toEqual({ data: { search: [{}, {}], being: { name: 'Luke' } } });
    expect(lastAsked().query).not.toContain('nope');
  });

  test('stand beside those of tables, in one request to the service', async () => {
    const before = remote.asked.length;
    const { data } = await engine.graphql(
      `query Both($id: ID!) {
      a: being(id: $id) { __typename name ... on Human { home friends { name } } }
      author(order_by: {id: asc}) { name }
      beings(limit: 1) { id }
    }`,
      { variables: { id: 1 }, operationName: 'Both' },
    );
    expect(data).toEqual({
      a: { __typename: 'Human', name: 'Luke', home: 'Tatooine', friends: [{ name: 'R2-D2' }] },
      author: [{ name: 'Ada' }, { name: 'Bo' }],
      beings: [{ id: '1' }],
    });
    expect(Object.keys(data!)).toEqual(['a', 'author', 'beings']);
    expect(remote.asked).toHaveLength(before + 1);
    expect(lastAsked()).toMatchObject({ operationName: 'Both', variables: { id: 1 } });
    expect(lastAsked().query).not.toContain('author');
  });

  test('connections are kept alive', async () => {
    await engine.graphql('{ strict }');
    const before = remote.connections();
    for (let i = 0; i < 5; i++) await engine.graphql('{ strict }');
    expect(remote.connections()).toBe(before);
  });

  test('fragments, unions, directives and input objects keep their meaning', async () => {
    const { data } = await engine.graphql(
      `query ($near: Near, $no: Boolean!) {
        search { ...found } echo(near: $near, json: {a: [1, "b"]})
        beings { name @skip(if: $no) ... on Being @include(if: $no) { id } }
      }
      fragment found on Found { ... on Human { home } ... on Being { id } __typename }`,
      { variables: { near: { x: 1, tags: ['t'], task: 'FIGHT' }, no: true } },
    );
    expect(data).toEqual({
      search: [
        { id: '2', __typename: 'Droid' },
        { home: 'Tatooine', id: '1', __typename: 'Human' },
      ],
      echo: JSON.stringify({ json: { a: [1, 'b'] }, near: { x: 1, y: 3, tags: ['t'], task: 'FIGHT' } }),
      beings: [{ id: '1' }, { id: '2' }],
    });
  });

  test.each([
    [
      '{ being(id: 1) { home } }',
      "field 'home' not found in type: 'Being'",
      '$.selectionSet.being.selectionSet.home',
    ],
    ['{ being { id } }', "missing required field 'id'", '$.selectionSet.being.args.id'],
    ['{ being(id: 1, x: 2) { id } }', "'being' has no argument named 'x'", '$.selectionSet.being'],
    [
      '{ echo(near: {x: 1, z: 2}) }',
      "field 'z' not found in type: 'Near'",
      '$.selectionSet.echo.args.near.z',
    ],
    ['{ being(id: 1) }', "missing selection set for 'Being'", '$.selectionSet.being.selectionSet'],
    [
      'query ($n: String) { echo(number: $n) }',
      "variable 'n' is declared as 'String', but used where 'Int' is expected",
      '$.selectionSet.echo.args.number',
    ],
  ])('errors are found before a request is sent: %s', async (query, message, path) => {
    const before = remote.asked.length;
    const { errors } = await engine.graphql(query);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining(message),
      extensions: { code: 'validation-failed', path },
    });
    expect(remote.asked).toHaveLength(before);
  });

  test('plans are cached by the shape of variables, whatever their values', async () => {
    const query = 'query ($n: Int) { echo(number: $n) }';
    for (const n of [1, 2, 3]) {
      const { data } = await engine.graphql(query, { variables: { n } });
      expect(data).toEqual({ echo: `{"number":${n}}` });
    }
  });

  test('numbers keep their digits in both directions', async () => {
    remote.misbehave((_, response) => response.end('{"data":{"strict":12345678901234567890.10}}'));
    const response = await engine.fetch('/v1/graphql', {
      method: 'POST',
      body: JSON.stringify({ query: '{ strict }' }),
    });
    expect(await response.text()).toBe('{"data":{"strict":12345678901234567890.10}}');
  });

  test('mutations run in order, and stop at the first that fails', async () => {
    const insert = (id: number) => `i${id}: insert_author_one(object: {id: ${id}, name: "x"}) { id }`;
    count = 0;
    const done = await engine.graphql(`mutation { ${insert(10)} a: count b: count ${insert(11)} c: count }`);
    expect(done.data).toEqual({ i10: { id: 10 }, a: 1, b: 2, i11: { id: 11 }, c: 3 });
    const failed = await engine.graphql(
      `mutation { ${insert(12)} ${insert(12).replace('i12', 'again')} count }`,
    );
    expect(failed.errors?.[0]?.message).toContain('Uniqueness violation');
    expect(count).toBe(3);
    await database.sql('delete from author where id > 2');
  });

  test('a subscription to one is refused', async () => {
    const { errors } = await engine.graphql('subscription { ticks }');
    expect(errors).toEqual([
      {
        message: 'subscription to remote server is not supported',
        extensions: { code: 'not-supported', path: '$' },
      },
    ]);
  });

  test('introspection has its types, including those that only an interface leads to', async () => {
    const { data } = await engine.graphql<{ __schema: { types: { name: string }[] } }>(
      '{ __schema { types { name } } being: __type(name: "Being") { kind possibleTypes { name } } near: __type(name: "Near") { inputFields { name defaultValue } } }',
    );
    const names = data!.__schema.types.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['Being', 'Human', 'Droid', 'Found', 'Json', 'Near', 'Task', 'author']),
    );
    expect(names).not.toContain('Query');
    expect(data).toMatchObject({
      being: { kind: 'INTERFACE', possibleTypes: [{ name: 'Droid' }, { name: 'Human' }] },
      near: {
        inputFields: [{ name: 'tags' }, { name: 'task' }, { name: 'x' }, { name: 'y', defaultValue: '3' }],
      },
    });
  });
});

describe('customization', () => {
  test('a namespace, names of types and fields; __typename has the customized name', async () => {
    await add('beings', {
      customization: {
        root_fields_namespace: 'space',
        type_names: { prefix: 'Far', mapping: { Int: 'MyInt', Droid: 'Robot' } },
        field_names: [
          { parent_type: 'Being', prefix: 'its_' },
          { parent_type: 'Human', prefix: 'its_', mapping: { home: 'planet' } },
          { parent_type: 'Droid', mapping: { id: 'its_id', name: 'its_name' } },
        ],
      },
    });
    const { data, errors } = await engine.graphql(
      `query ($limit: MyInt) { space { __typename
        beings(limit: $limit) { __typename its_id t: __typename ... on FarHuman { planet its_friends { __typename } } ... on Robot { task } }
      } }`,
      { variables: { limit: 2 } },
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      space: {
        __typename: 'FarQuery',
        beings: [
          {
            __typename: 'FarHuman',
            its_id: '1',
            t: 'FarHuman',
            planet: 'Tatooine',
            its_friends: [{ __typename: 'Robot' }],
          },
          { __typename: 'Robot', its_id: '2', t: 'Robot', task: 'TALK' },
        ],
      },
    });
    expect(lastAsked().query).toContain('$limit:Int');
    const broken = await engine.graphql('{ space { broken } }');
    expect(broken).toMatchObject({
      data: null,
      errors: [{ message: 'it broke', path: ['space', 'broken'] }],
    });
  });

  test.each([
    [
      { type_names: { mapping: { Droid: 'X', Human: 'X' } } },
      'Type name mappings are not distinct; the following types appear more than once: "X"',
      'remote-schema-error',
    ],
    [
      { field_names: [{ parent_type: 'Droid', mapping: { task: 'name' } }] },
      'Field name mappings for object type "Droid" are not distinct; the following fields appear more than once: "name"',
      'remote-schema-error',
    ],
    [
      { field_names: [{ parent_type: 'Droid', mapping: { name: 'x' } }] },
      'Remote schema customization inconsistency: field name mapping for field "name" of interface "Being" is inconsistent with mapping for type "Droid". Interface field name maps to "name". Type field name maps to "x".',
      'remote-schema-error',
    ],
    [
      { field_names: [{ parent_type: 'Droid', mapping: { __typename: 'x' } }] },
      'attempt to customize reserved field name "__typename"',
      'invalid-params',
    ],
  ])('a customization that does not fit is refused: %j', async (customization, error, code) => {
    expect(await add('beings', { customization })).toMatchObject({
      status: 400,
      body: { error, code, path: '$.args' },
    });
  });

  test('two remote schemas with the same types live in two namespaces', async () => {
    expect((await add('a', { customization: { root_fields_namespace: 'a' } })).status).toBe(200);
    expect((await add('b', { customization: { root_fields_namespace: 'b' } })).status).toBe(200);
    const { data } = await engine.graphql(
      '{ a { strict } b { strict being(id: 2) { name } } again: b { strict } }',
    );
    expect(data).toEqual({
      a: { strict: 'yes' },
      b: { strict: 'yes', being: { name: 'R2-D2' } },
      again: { strict: 'yes' },
    });
    expect(await engine.graphql('{ __schema { types { name } } }')).not.toHaveProperty('errors');
  });
});

describe('headers', () => {
  test('the metadata overrides session variables, which override forwarded headers of the client', async () => {
    const headers = [
      { name: 'X-Key', value_from_env: 'REMOTE_KEY' },
      { name: 'X-Engine-Test', value: 'configured' },
    ];
    await admin('add_remote_schema', {
      name: 'beings',
      definition: { url_from_env: 'REMOTE_URL', headers, forward_client_headers: true },
    });
    const sent = { 'x-engine-user-id': '7', 'x-engine-test': 'client', 'x-own': 'yes', 'x-key': 'client' };
    await engine.graphql('{ strict }', { role: 'user', headers: sent });
    expect(lastAsked().headers).toMatchObject({
      'x-key': 'from the environment',
      'x-engine-test': 'configured',
      'x-engine-user-id': '7',
      'x-engine-role': 'user',
      'x-own': 'yes',
      'content-type': 'application/json',
    });
    expect(lastAsked().headers).not.toHaveProperty('x-engine-admin-secret');
    await admin('update_remote_schema', { name: 'beings', definition: { url: '{{REMOTE_URL}}' } });
    await engine.graphql('{ strict }', { role: 'user', headers: sent });
    expect(lastAsked().headers).toMatchObject({ 'x-engine-user-id': '7' });
    expect(lastAsked().headers).not.toHaveProperty('x-own');
  });

  test('secrets of the engine are never sent', async () => {
    const before = remote.asked.length;
    const own = 'ENGINE_GRAPHQL_ADMIN_SECRET';
    for (const definition of [
      { url: '{{REMOTE_URL}}', headers: [{ name: 'X-Key', value_from_env: own }] },
      { url: `{{REMOTE_URL}}?stolen={{${own}}}` },
      { url_from_env: own },
    ]) {
      const { status, body } = await engine.admin('add_remote_schema', { name: 'thief', definition });
      expect(status).toBe(400);
      expect(JSON.stringify(body)).not.toContain('hush');
    }
    expect(remote.asked).toHaveLength(before);
  });

  test('its cookies are sent to the client', async () => {
    await add('beings');
    remote.headers['set-cookie'] = ['a=1', 'b=2'];
    const response = await engine.fetch('/v1/graphql', {
      method: 'POST',
      body: JSON.stringify({ query: '{ strict }' }),
    });
    delete remote.headers['set-cookie'];
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });
});

describe('failures', () => {
  beforeEach(() => add('beings', { timeout_seconds: 1 }));

  test('errors of the service are returned, without data', async () => {
    const { data, errors } = await engine.graphql('{ author { id } broken }');
    expect(data).toBeNull();
    expect(errors).toEqual([{ message: 'it broke', path: ['broken'], locations: [expect.anything()] }]);
  });

  const answerWith = (text: string) => (_: unknown, response: ServerResponse) => void response.end(text);
  test.each<[string, (request: unknown, response: ServerResponse) => void, string, RegExp]>([
    ['it hangs', () => {}, 'HTTP exception', /^Response timeout$/],
    [
      'it refuses the connection',
      (_, response) => response.destroy(),
      'HTTP exception',
      /^Connection failure/,
    ],
    [
      'it is cut off in the middle',
      (_, response) => {
        response.writeHead(200, { 'content-length': 1000 });
        response.write('{"data":{"broken":');
        setTimeout(() => response.destroy(), 20);
      },
      'HTTP exception',
      /cut off/,
    ],
    [
      'it redirects',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'HTTP exception',
      /Redirects are not followed/,
    ],
    ['it answers garbage', answerWith('<html>'), 'did not answer with a GraphQL response', /^undefined$/],
    ['it answers half of JSON', answerWith('{"data":{"broken":"a'), 'did not answer', /^undefined$/],
    ['it answers a list', answerWith('[]'), 'it is no object', /^undefined$/],
    ['its data is text', answerWith('{"data":"x"}'), 'there is no data', /^undefined$/],
    [
      'its errors are text',
      answerWith('{"errors":"x"}'),
      'its "errors" is not a list of errors',
      /^undefined$/,
    ],
    ['it leaves out a field', answerWith('{"data":{}}'), 'has no "broken"', /^undefined$/],
  ])('%s: a clear error in its place, and the other fields are there', async (_, handle, message, cause) => {
    remote.misbehave(handle);
    const started = performance.now();
    const { data, errors } = await engine.graphql<unknown>('{ author(limit: 1) { id } broken }');
    expect(performance.now() - started).toBeLessThan(3000);
    expect(data).toEqual({ author: [{ id: expect.anything() }], broken: null });
    expect(errors).toHaveLength(1);
    expect(errors![0]).toMatchObject({
      message: expect.stringContaining(message),
      path: ['broken'],
      extensions: { path: '$.selectionSet.broken', code: 'remote-schema-error' },
    });
    const { internal } = errors![0]!.extensions as { internal?: { message?: string } };
    expect(String(internal?.message)).toMatch(cause);
  });

  test('only a field whose value does not match its type is null', async () => {
    remote.misbehave(answerWith('{"data":{"being":[1],"broken":"fine"}}'));
    const { data, errors } = await engine.graphql('{ being(id: 1) { id } broken }');
    expect(data).toEqual({ being: null, broken: 'fine' });
    expect(errors).toMatchObject([{ path: ['being'], message: expect.stringContaining('not of the type') }]);
  });

  test('there is no data if a non-nullable field is null', async () => {
    remote.misbehave(answerWith('garbage'));
    const { data, errors } = await engine.graphql('{ author { id } strict }');
    expect(data).toBeNull();
    expect(errors).toHaveLength(1);
  });

  test('only administrators see causes', async () => {
    remote.misbehave((_, response) => response.destroy());
    const { errors } = await engine.graphql('{ broken }', { role: 'user' });
    expect(errors![0]!.extensions).not.toHaveProperty('internal');
    expect(errors![0]!.message).not.toContain('from the environment');
  });

  test('ten megabytes are forwarded', async () => {
    const long = 'x'.repeat(10_000_000);
    // On a busy machine this takes longer than the time limit for hanging services.
    await admin('update_remote_schema', { name: 'beings', definition: { url: remote.url } });
    remote.misbehave(answerWith(`{"data":{"broken":"${long}"}}`));
    const { data } = await engine.graphql<{ broken: string }>('{ broken author { id } }');
    expect(data!.broken.length).toBe(long.length);
    expect(data).toHaveProperty('author');
  });
});

describe('operations', () => {
  test('a schema is added, exported, updated, reloaded, introspected and removed', async () => {
    expect(await add('beings')).toMatchObject({ status: 200, body: { message: 'success' } });
    expect(await add('beings')).toMatchObject({ status: 400, body: { code: 'already-exists' } });
    const change = { name: 'beings', comment: 'c', definition: { url: other.url, timeout_seconds: 7 } };
    expect((await admin('update_remote_schema', change)).status).toBe(200);
    expect(await engine.admin('export_metadata', {})).toMatchObject({
      body: {
        remote_schemas: [
          { name: 'beings', comment: 'c', definition: { url: other.url, timeout_seconds: 7 } },
        ],
      },
    });
    expect(await engine.graphql('{ elsewhere }')).toEqual({ data: { elsewhere: 'here' } });
    expect(await admin('introspect_remote_schema', { name: 'beings' })).toMatchObject({
      status: 200,
      body: { data: { __schema: { queryType: { name: 'Query' } } } },
    });
    other.serve('type Query { elsewhere: String more: Int }', { 'Query.more': () => 1 });
    expect((await engine.graphql('{ more }')).errors).toBeDefined();
    expect((await admin('reload_remote_schema', { name: 'beings' })).status).toBe(200);
    expect(await engine.graphql('{ more }')).toEqual({ data: { more: 1 } });
    expect((await admin('remove_remote_schema', { name: 'beings' })).status).toBe(200);
    expect((await engine.graphql('{ more }')).errors?.[0]?.message).toContain("field 'more' not found");
    for (const type of ['remove_remote_schema', 'reload_remote_schema', 'introspect_remote_schema'])
      expect(await admin(type, { name: 'beings' })).toMatchObject({
        status: 400,
        body: { code: 'not-exists' },
      });
  });

  test('a service that cannot be reached is not added', async () => {
    const definition = { url: 'http://127.0.0.1:1/' };
    expect(await admin('add_remote_schema', { name: 'gone', definition })).toMatchObject({
      status: 400,
      body: {
        code: 'remote-schema-error',
        error: expect.stringContaining('http://127.0.0.1:1/'),
        path: '$.args',
      },
    });
  });

  test('fields that exist already are refused', async () => {
    await add('beings');
    const again = await engine.admin(
      'add_remote_schema',
      { name: 'b', definition: { url: remote.url } },
      { endpoint: '/v1/query' },
    );
    expect(again).toMatchObject({
      status: 400,
      body: { code: 'unexpected', error: 'cannot continue due to new inconsistent metadata' },
    });
  });

  test('when the service is down, only its remote schema is inconsistent, until it is reloaded', async () => {
    await add('beings');
    remote.misbehave((_, response) => response.destroy());
    expect(await admin('reload_metadata', {})).toMatchObject({
      status: 200,
      body: {
        is_consistent: false,
        inconsistent_objects: [{ type: 'remote_schema', name: 'remote_schema beings' }],
      },
    });
    expect((await engine.graphql('{ strict }')).errors).toBeDefined();
    expect(await engine.graphql('{ author(limit: 1) { id } }')).not.toHaveProperty('errors');
    remote.misbehave(null);
    expect((await admin('reload_remote_schema', { name: 'beings' })).status).toBe(200);
    expect(await engine.graphql('{ strict }')).toEqual({ data: { strict: 'yes' } });
    expect(await admin('get_inconsistent_metadata', {})).toMatchObject({ body: { is_consistent: true } });
  });

  test('stored queries on it are validated while it is available, and answer at endpoints', async () => {
    await add('beings');
    const collect = (query: string) =>
      admin('create_query_collection', { name: 'c', definition: { queries: [{ name: 'q', query }] } });
    expect((await collect('{ stricter }')).status).toBe(500);
    expect((await collect('{ strict broken @include(if: false) }')).status).toBe(200);
    const definition = { query: { collection_name: 'c', query_name: 'q' } };
    await admin('create_rest_endpoint', { name: 'e', url: 'e', methods: ['GET'], definition });
    const response = await engine.fetch('/api/rest/e');
    expect([response.status, await response.json()]).toEqual([200, { strict: 'yes' }]);
    remote.misbehave((_, answer) => answer.destroy());
    expect(await (await engine.fetch('/api/rest/e')).json()).toMatchObject({
      error: 'Errors from remote server',
    });
    await admin('reload_metadata', {});
    expect(await admin('get_inconsistent_metadata', {})).toMatchObject({
      body: {
        inconsistent_objects: [
          {
            type: 'remote_schema',
            message: { type: 'http_exception', message: expect.stringMatching(/\S/) },
          },
        ],
      },
    });
  });

  test('it is available over WebSockets, too', async () => {
    await add('beings');
    const socket = await openSession(engine);
    socket.send({ type: 'subscribe', id: '1', payload: { query: '{ strict author(limit: 1) { id } }' } });
    expect(await socket.next()).toMatchObject({ payload: { data: { strict: 'yes', author: [{}] } } });
    socket.close();
  });

  test('the engine starts while a service is down', async () => {
    await add('beings');
    remote.misbehave((_, response) => response.destroy());
    const second = await startTestEngine({ databaseUrl: database.url });
    expect(await second.graphql('{ author(limit: 1) { id } }')).not.toHaveProperty('errors');
    expect((await second.graphql('{ strict }')).errors).toBeDefined();
    remote.misbehave(null);
    await second.admin('reload_remote_schema', { name: 'beings' });
    expect(await second.graphql('{ strict }')).toEqual({ data: { strict: 'yes' } });
    await second.close();
  });
});

test('another Pergola is a remote schema like any other', async () => {
  const far = await createDatabase();
  await far.sql(
    "create table planet (id int primary key, name text); insert into planet values (1, 'Endor');",
  );
  const second = await startTestEngine({ databaseUrl: far.url, adminSecret: 'far' });
  await second.admin('pg_track_table', { table: 'planet' });
  const headers = [{ name: 'x-engine-admin-secret', value: 'far' }];
  const definition = { url: `${second.url}/v1/graphql`, headers };
  expect(await admin('add_remote_schema', { name: 'far', definition })).toMatchObject({ status: 200 });
  const query = 'query ($w: planet_bool_exp!) { planet(where: $w) { name } author(limit: 1) { id } }';
  const { data } = await engine.graphql(query, { variables: { w: { id: { _eq: 1 } } } });
  expect(data).toEqual({ planet: [{ name: 'Endor' }], author: [{ id: 1 }] });
  const insert = 'mutation { insert_planet_one(object: {id: 2, name: "Hoth"}) { id } }';
  expect(await engine.graphql(insert)).toEqual({ data: { insert_planet_one: { id: 2 } } });
  expect(await engine.graphql('{ __schema { types { name } } }')).not.toHaveProperty('errors');
  const socket = await openSocket(engine.url, 'graphql-ws');
  const ours = { 'x-engine-admin-secret': engine.adminSecret };
  socket.send({ type: 'connection_init', payload: { headers: ours } });
  await socket.next();
  const live = 'subscription { planet(order_by: {id: asc}) { name } }';
  socket.send({ type: 'start', id: '1', payload: { query: live } });
  const planets = (...names: string[]) => ({
    payload: { data: { planet: names.map((name) => ({ name })) } },
  });
  expect(await socket.next()).toMatchObject(planets('Endor', 'Hoth'));
  await far.sql("insert into planet values (3, 'Naboo')");
  expect(await socket.next()).toMatchObject(planets('Endor', 'Hoth', 'Naboo'));
  await second.close();
  expect(await socket.next()).toMatchObject({ type: 'error' });
  socket.socket.terminate();
  await far.drop();
});
