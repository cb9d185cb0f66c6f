/** Differences from Hasura as clients observe them: what the default refuses is refused with the name of the option in the message,
 *  and is answered with `--compatibility reference`; an option that is set wins.
 *  Rule: docs/reference/options.md, "Differences from Hasura". */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine, type TestEngineOptions } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testDatabase } from '../../testing/world.ts';
import { DIFFERENCES, remedyOf } from '../config/compatibility.ts';
import { loadOptions } from '../config/load-options.ts';
import type { OptionFlag, Options } from '../config/options.ts';
import { startEngine } from '../main.ts';

const database = testDatabase();
let remote: RemoteService;
let safe: TestEngine;
let reference: TestEngine;

const REFERENCE = loadOptions(['--compatibility', 'reference', '--database-url', 'postgres://x'], {});
const start = (options: Partial<TestEngineOptions> = {}) =>
  startTestEngine({
    databaseUrl: database.url,
    adminSecret: 'secret',
    unauthorizedRole: 'anyone',
    ...options,
  });
/** Options of an engine with the switch. The address and the port are those of tests. */
const withSwitch = (options: Partial<Options> = {}): Partial<TestEngineOptions> => {
  const { databaseUrl: _, serverPort: __, serverHost: ___, ...rest } = REFERENCE;
  const given = { unauthorizedRole: 'anyone', adminSecret: 'secret', valuesKey: undefined };
  return { ...rest, ...given, gracefulShutdownTimeout: 5, ...options } as Partial<TestEngineOptions>;
};

beforeAll(async () => {
  remote = await startRemote('type Query { hidden: String }', { 'Query.hidden': () => 'hidden' });
  await database.sql(`create table note (id int primary key, owner text not null, body text not null);
    insert into note values (1, 'ann', 'a'), (2, 'bob', repeat('b', 3000000));
    create function slow(n note) returns text language sql stable as $$ select pg_sleep(2)::text $$;`);
  safe = await start();
  const filter = { owner: { _eq: 'X-Engine-User-Id' } };
  const operations: [string, object][] = [
    ['pg_track_table', { table: 'note' }],
    ['pg_add_computed_field', { table: 'note', name: 'slow', definition: { function: 'slow' } }],
    [
      'pg_create_select_permission',
      { table: 'note', role: 'anyone', permission: { columns: '*', computed_fields: ['slow'], filter } },
    ],
    ['add_remote_schema', { name: 'far', definition: { url: remote.url } }],
    [
      'add_remote_schema_permissions',
      { remote_schema: 'far', role: 'user', definition: { schema: 'type Query { hidden: String }' } },
    ],
  ];
  for (const [type, args] of operations) await safe.must(type, args);
  reference = await start(withSwitch());
});
afterAll(() => Promise.all([safe?.close(), reference?.close(), remote?.close()]));

const remedy = (option: OptionFlag) => remedyOf(DIFFERENCES.find((row) => row.option === option)!);
const post = async (engine: TestEngine, body: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${engine.url}/v1/graphql`, { method: 'POST', body, headers });
  return { status: response.status, body: await response.json() };
};
const JSON_TYPE = { 'content-type': 'application/json' };
const query = (text: string) => JSON.stringify({ query: text });

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
  'a body of the type %s',
  async (type) => {
    const refused = await post(safe, query('{ __typename }'), { 'content-type': type });
    const message = expect.stringContaining(`(${remedy('allow-simple-requests')})`);
    expect(refused).toEqual({
      status: 415,
      body: {
        path: '$',
        error: message,
        code: 'bad-request',
        errors: [{ message, extensions: { path: '$', code: 'bad-request' } }],
      },
    });
    expect(await post(reference, query('{ __typename }'), { 'content-type': type })).toEqual({
      status: 200,
      body: { data: { __typename: 'query_root' } },
    });
  },
);

test('session variables without credentials', async () => {
  const as = { ...JSON_TYPE, 'x-engine-user-id': 'ann' };
  expect(await post(safe, query('{ note { id } }'), as)).toMatchObject({ body: { errors: [{}] } });
  expect(await post(reference, query('{ note { id } }'), as)).toMatchObject({
    body: { data: { note: [{ id: 1 }] } },
  });
});

test('a role without a permission on a remote schema; a declared one is reported, and kept', async () => {
  const headers = { role: 'other' };
  expect((await safe.graphql('{ hidden }', headers)).errors).toBeDefined();
  expect(await reference.graphql('{ hidden }', headers)).toEqual({ data: { hidden: 'hidden' } });
  expect(await reference.graphql('{ hidden }', { role: 'user' })).toEqual({ data: { hidden: 'hidden' } });
  const report = await reference.admin('get_inconsistent_metadata', { include_keys: true });
  expect(report.body).toMatchObject({
    is_consistent: true,
    not_enforced: [{ key: 'remote_schema_permission/far/user' }],
  });
  const exported = async (engine: TestEngine) => (await engine.admin('export_metadata', {})).body;
  const document = await exported(safe);
  expect(await exported(reference)).toEqual(document);
  await reference.must('replace_metadata', document);
  expect(await exported(reference)).toEqual(document);
  const closed = await start(withSwitch({ enableRemoteSchemaPermissions: true }));
  expect((await closed.graphql('{ hidden }', headers)).errors).toBeDefined();
  await closed.close();
});

test('a count without aggregations', async () => {
  const count = (engine: TestEngine) =>
    engine.admin(
      'count',
      { table: 'note' },
      { endpoint: '/v1/query', headers: { 'x-engine-role': 'anyone', 'x-engine-user-id': 'ann' } },
    );
  expect(await count(safe)).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining(`(${remedy('count-without-aggregations')})`) },
  });
  expect(await count(reference)).toEqual({ status: 200, body: { count: 1 } });
});

const ANN = { role: 'anyone', headers: { 'x-engine-user-id': 'ann' } };

test('a statement that takes longer than the time limit', async () => {
  const limited = await start({ defaultTimeLimit: 1 });
  expect((await limited.graphql('{ note { slow } }', ANN)).errors?.[0]?.message).toContain(
    `(${remedy('default-time-limit')})`,
  );
  await limited.close();
  const open = await reference.graphql('{ note { id slow } }', ANN);
  expect(open).toEqual({ data: { note: [{ id: 1, slow: '' }] } });
});

test('a long body, and a long response', async () => {
  const text = `{ __typename } # ${'x'.repeat(5 * 1024 * 1024)}`;
  const role = { ...JSON_TYPE, 'x-engine-admin-secret': 'secret', 'x-engine-role': 'anyone' };
  expect(await post(safe, query(text), role)).toMatchObject({
    status: 413,
    body: { errors: [{ message: expect.stringContaining(`(${remedy('max-role-body-length')})`) }] },
  });
  expect(await post(reference, query(text), role)).toMatchObject({ status: 200, body: { data: {} } });
  const bob = { role: 'anyone', headers: { 'x-engine-user-id': 'bob' } };
  const many = `{ ${[...Array(12).keys()].map((i) => `a${i}: note { body }`).join(' ')} }`;
  expect((await safe.graphql(many, bob)).errors?.[0]?.message).toContain(
    `(${remedy('max-role-response-length')})`,
  );
  expect(Object.keys((await reference.graphql(many, bob)).data ?? {})).toHaveLength(12);
});

test('another host name, without an admin secret', async () => {
  const hosted = async (argv: readonly string[]) => {
    const address = ['--database-url', database.url, '--server-port', '0', '--server-host', '127.0.0.1'];
    const engine = await startEngine(loadOptions([...address, ...argv], {}));
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(`${engine.url}/v1/graphql`, {
        method: 'POST',
        headers: { ...JSON_TYPE, host: 'shop.example' },
      });
      sent.on('error', reject).on('response', async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode!, text });
      });
      sent.end(query('{ __typename }'));
    });
    await engine.close();
    return answer;
  };
  expect(await hosted([])).toMatchObject({
    status: 403,
    text: expect.stringContaining(`(${remedy('allowed-hosts')})`),
  });
  expect(await hosted(['--compatibility', 'reference'])).toMatchObject({ status: 200 });
});
