/** Guards from end to end: what clients of each role are told, and that a change of the metadata counts at once. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { type GraphqlAnswer, startTestEngine, type TestEngine } from '../testing/engine.ts';

let database: TestDatabase;
let engine: TestEngine;
let closed: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql(`create table book (id int primary key, title text);
    insert into book values (1, 'Emma'), (2, 'Ulysses');`);
  engine = await startTestEngine({ databaseUrl: database.url, schemaSyncPollInterval: 100 });
  await done('pg_track_table', { table: 'book' });
  for (const role of ['user', 'guest']) {
    const permission = { columns: ['id', 'title'], filter: { id: { _lte: role === 'user' ? 2 : 1 } } };
    await done('pg_create_select_permission', { table: 'book', role, permission });
  }
  closed = await startTestEngine({ databaseUrl: database.url, enableAllowlist: true });
});
afterEach(async () => {
  await done('remove_api_limits', {});
  await done('set_graphql_schema_introspection_options', { disabled_for_roles: [] });
});
afterAll(async () => {
  await closed?.close();
  await engine?.close();
  await database?.drop();
});

async function done(type: string, args: unknown, at = engine): Promise<void> {
  const { status, body } = await at.admin(type, args);
  expect(status, JSON.stringify(body)).toBe(200);
}

const told = ({ data, errors }: GraphqlAnswer<unknown>) =>
  errors ? `${errors[0]?.extensions.code} ${errors[0]?.extensions.path}: ${errors[0]?.message}` : data;
const BOOKS = '{ book(order_by: { id: asc }) { id } }';
const ofUser = { book: [{ id: 1 }, { id: 2 }] };
const NOT_ALLOWED = 'validation-failed $: query is not allowed';

test('an allow list lets through what its collections hold, to whom their scope says', async () => {
  const ask = async (role: string) => told(await closed.graphql(BOOKS, { role }));
  expect(await ask('user')).toBe(NOT_ALLOWED);
  expect(await ask('admin')).toEqual(ofUser);
  const definition = {
    queries: [{ name: 'books', query: `query ${BOOKS.replace('id }', '__typename id }')}` }],
  };
  await done('create_query_collection', { name: 'shelf', definition }, closed);
  await done('add_collection_to_allowlist', { collection: 'shelf' }, closed);
  expect([await ask('user'), await ask('guest')]).toEqual([ofUser, { book: [{ id: 1 }] }]);
  const scope = { global: false, roles: ['guest'] };
  await done('update_scope_of_collection_in_allowlist', { collection: 'shelf', scope }, closed);
  expect([await ask('user'), await ask('guest')]).toEqual([NOT_ALLOWED, { book: [{ id: 1 }] }]);
  await done('rename_query_collection', { name: 'shelf', new_name: 'rack' }, closed);
  expect([await ask('user'), await ask('guest')]).toEqual([NOT_ALLOWED, { book: [{ id: 1 }] }]);
  await done('drop_query_from_collection', { collection_name: 'rack', query_name: 'books' }, closed);
  expect(await ask('guest')).toBe(NOT_ALLOWED);
  await done('drop_collection_from_allowlist', { collection: 'rack' }, closed);
  const config = await closed.fetch('/v1alpha1/config');
  expect(await config.json()).toMatchObject({ is_allow_list_enabled: true });
});

test('an allow list that is not enforced refuses nothing', async () => {
  expect(told(await engine.graphql(BOOKS, { role: 'user' }))).toEqual(ofUser);
});

test('limits hold from the moment they are set to the moment they are lifted, for the roles they are for', async () => {
  const ask = async (role: string) => told(await engine.graphql(BOOKS, { role }));
  await done('set_api_limits', { node_limit: { global: 1, per_role: { user: 0 } } });
  expect(await ask('user')).toMatch(/^node-limit-exceeded \$: node limit exceeded/);
  expect([await ask('guest'), await ask('admin')]).toEqual([{ book: [{ id: 1 }] }, ofUser]);
  await done('set_api_limits', { disabled: true, node_limit: { global: 0 } });
  expect(await ask('user')).toEqual(ofUser);
  const { body } = await engine.admin<{ api_limits?: unknown }>('export_metadata', {});
  expect(body.api_limits).toEqual({ disabled: true, node_limit: { global: 0 } });
  await done('remove_api_limits', {});
  expect((await engine.admin<object>('export_metadata', {})).body).not.toHaveProperty('api_limits');
});

test('limits that cannot be are refused', async () => {
  const { status, body } = await engine.admin('set_api_limits', { depth_limit: { global: -1 } });
  expect([status, body]).toMatchObject([400, { code: 'parse-failed' }]);
});

test('introspection is closed to a role and open to the others', async () => {
  const ask = async (role: string) =>
    told(await engine.graphql('{ __schema { queryType { name } } }', { role }));
  await done('set_graphql_schema_introspection_options', { disabled_for_roles: ['user'] });
  expect(await ask('user')).toBe('not-supported $: introspection is disabled for role: "user"');
  expect(await ask('guest')).toEqual({ __schema: { queryType: { name: 'query_root' } } });
  await done('set_graphql_schema_introspection_options', { disabled_for_roles: [] });
  expect(await ask('user')).toEqual({ __schema: { queryType: { name: 'query_root' } } });
});

async function post(body: unknown, role = 'user'): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'x-engine-role': role };
  const response = await engine.fetch('/v1/graphql', { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}

test('a persisted query is refused, other extensions are not', async () => {
  const persistedQuery = { version: 1, sha256Hash: 'abc' };
  for (const query of [BOOKS, undefined])
    expect(told((await post({ query, extensions: { persistedQuery } })) as never)).toBe(
      'not-supported $: Automatic Persisted Queries is not enabled',
    );
  expect(await post({ query: BOOKS, extensions: { tracing: true } })).toEqual({ data: ofUser });
  expect(await post({ query: BOOKS, extensions: null })).toEqual({ data: ofUser });
});
