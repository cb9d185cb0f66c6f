/** Tests values in permissions that look like mistaken session variables: refused wherever a session variable is
 *  allowed, inconsistent if they are already stored, and plain text only if they are written as a literal. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testDatabase } from '../../testing/world.ts';
import { parseMetadata } from '../metadata/parse.ts';
import { writeDirectory } from '../store/directory.ts';

const database = testDatabase();
let engine: TestEngine;
let remote: RemoteService;

beforeAll(async () => {
  await database.sql(`
    create table org (id int primary key, slug text);
    create table doc (id int primary key, slug text, tags text[], data jsonb, org_id int references org);
    insert into org values (1, 'a');
    insert into doc values (1, 'a', '{a}', '{"owner": "a"}', 1), (2, 'X-Hasura-Slug', '{b}', '{"owner": "b"}', 1);`);
  remote = await startRemote('type Query { orders(of: String): String }', { 'Query.orders': () => 'all' });
  engine = await startTestEngine({ databaseUrl: database.url });
  for (const table of ['org', 'doc']) await engine.admin('pg_track_table', { table });
  await engine.admin('pg_create_object_relationship', {
    table: 'doc',
    name: 'org',
    using: { foreign_key_constraint_on: 'org_id' },
  });
  await engine.admin('add_remote_schema', { name: 'far', definition: { url: remote.url } });
});
afterAll(async () => {
  await engine?.close();
  await remote?.close();
});
beforeEach(async () => {
  for (const kind of ['select', 'insert', 'update', 'delete']) {
    await engine.admin(`pg_drop_${kind}_permission`, { table: 'doc', role: 'user' });
  }
});

const ALL = { columns: '*', filter: {} };
const select = (filter: object) => ['select', { columns: '*', filter }] as const;

/** Every position in a permission that may contain a session variable. */
const POSITIONS: readonly (readonly [string, (text: unknown) => readonly [kind: string, rule: object]])[] = [
  ['a filter', (text) => select({ slug: { _neq: text } })],
  ['a bare value', (text) => select({ _not: { slug: text } })],
  ['_in', (text) => select({ slug: { _nin: [text, 'a'] } })],
  ['the list of _in', (text) => select({ slug: { _nin: text } })],
  ['an array', (text) => select({ _not: { tags: { _contains: [text] } } })],
  ['a relationship', (text) => select({ org: { slug: { _neq: text } } })],
  ['_exists', (text) => select({ _exists: { _table: 'org', _where: { slug: { _neq: text } } } })],
  ['_or', (text) => select({ _or: [{ slug: { _neq: text } }] })],
  ['a JSON value', (text) => select({ _not: { data: { _contains: { owner: text } } } })],
  ['a JSON key', (text) => select({ _not: { data: { _has_key: text } } })],
  ['a check', (text) => ['insert', { check: { slug: { _neq: text } }, columns: '*' }]],
  ['a preset', (text) => ['insert', { check: {}, columns: '*', set: { slug: text } }]],
  ['a filter of updates', (text) => ['update', { columns: '*', filter: { slug: { _neq: text } } }]],
  ['a check of updates', (text) => ['update', { ...ALL, check: { slug: { _neq: text } } }]],
  ['a preset of updates', (text) => ['update', { ...ALL, set: { slug: text } }]],
  ['a filter of deletions', (text) => ['delete', { filter: { slug: { _neq: text } } }]],
];

test.each(POSITIONS)('%s may not contain text that looks like a session variable', async (_, rule) => {
  for (const text of ['X-Hasura-Slug', 'X-Engin-Slug', 'x_engine_slug']) {
    const [kind, permission] = rule(text);
    const { status, body } = await engine.admin<{ error: string }>(`pg_create_${kind}_permission`, {
      table: 'doc',
      role: 'user',
      permission,
    });
    expect(status).toBe(400);
    expect(body.error).toMatch(
      /did you mean "X-Engine-Slug"|did you mean "x-engine-slug"|inside a JSON value/,
    );
    expect(body.error).toContain('$literal');
  }
});

test.each(POSITIONS.filter(([name]) => !/JSON value|list of/.test(name)))(
  '%s may contain a session variable, other text, and the text as a literal',
  async (_, rule) => {
    for (const text of ['X-Engine-Slug', 'x-ray', 'x-large-shirt', { $literal: 'X-Hasura-Slug' }]) {
      const [kind, permission] = rule(text);
      const drop = await engine.admin(`pg_drop_${kind}_permission`, { table: 'doc', role: 'user' });
      expect([200, 400]).toContain(drop.status);
      const args = { table: 'doc', role: 'user', permission };
      await engine.must(`pg_create_${kind}_permission`, args);
    }
  },
);

test('a literal is the text itself, or a whole JSON value or list', async () => {
  const ids = async (filter: object) => {
    await engine.admin('pg_drop_select_permission', { table: 'doc', role: 'user' });
    const args = { table: 'doc', role: 'user', permission: { columns: ['id'], filter } };
    await engine.must('pg_create_select_permission', args);
    const { data } = await engine.graphql<{ doc: { id: number }[] }>('{ doc(order_by: {id: asc}) { id } }', {
      role: 'user',
      headers: { 'x-engine-slug': 'a' },
    });
    return data?.doc.map(({ id }) => id);
  };
  expect(await ids({ slug: { _eq: { $literal: 'X-Hasura-Slug' } } })).toEqual([2]);
  expect(await ids({ slug: { $literal: 'X-Hasura-Slug' } })).toEqual([2]);
  expect(await ids({ slug: { _in: { $literal: ['X-Hasura-Slug'] } } })).toEqual([2]);
  expect(await ids({ slug: { _eq: { $literal: 'X-Engine-Slug' } } })).toEqual([]);
  expect(await ids({ slug: { _eq: 'X-Engine-Slug' } })).toEqual([1]);
  expect(await ids({ data: { _contains: { $literal: { owner: 'b' } } } })).toEqual([2]);
});

test('a preset of a remote schema may not contain it either, unless it is static', async () => {
  const permit = (preset: string) =>
    engine.admin<{ error: string }>('add_remote_schema_permissions', {
      remote_schema: 'far',
      role: 'user',
      definition: { schema: `type Query { orders(of: String @preset(${preset})): String }` },
    });
  const refused = await permit('value: "X-Hasura-Slug"');
  expect(refused.status).toBe(400);
  expect(refused.body.error).toContain('did you mean "X-Engine-Slug"');
  expect(await permit('value: "X-Hasura-Slug", static: true')).toMatchObject({ status: 200 });
});

test('a stored permission with such a value is inconsistent, and its role sees no rows', async () => {
  const permission = {
    role: 'user',
    permission: { columns: ['id'], filter: { slug: { _neq: 'X-Engin-Slug' } } },
  };
  const key = 'select_permission/default/public/doc/user';
  const put = [{ key, definition: permission }];
  expect(await engine.admin('patch_metadata', { put })).toMatchObject({ status: 400 });
  expect(await engine.admin('patch_metadata', { put, allow_inconsistent_metadata: true })).toMatchObject({
    status: 200,
    body: { is_consistent: false },
  });
  expect((await engine.graphql('{ doc { id } }', { role: 'user' })).errors).toBeDefined();
  const again = await startTestEngine({ databaseUrl: database.url, adminSecret: engine.adminSecret });
  expect((await again.admin('get_inconsistent_metadata', {})).body).toMatchObject({
    inconsistent_objects: [{ reason: expect.stringContaining('did you mean "X-Engine-Slug"') }],
  });
  expect((await again.graphql('{ doc { id } }', { role: 'user' })).errors).toBeDefined();
  await again.close();
});

test('another prefix applies to names of session variables on every path, and near misses are refused', async () => {
  const own = await createDatabase();
  await own.sql(
    `create table doc (id int primary key, slug text); insert into doc values (1, 'a'), (2, 'b')`,
  );
  const document = (filter: object) =>
    parseMetadata({
      version: 3,
      sources: [
        {
          name: 'default',
          kind: 'postgres',
          configuration: { connection_info: { database_url: own.url } },
          tables: [
            {
              table: { schema: 'public', name: 'doc' },
              select_permissions: [{ role: 'user', permission: { columns: ['id'], filter } }],
            },
          ],
        },
      ],
    });
  const folder = await mkdtemp(join(tmpdir(), 'prefix-'));
  const start = () =>
    startTestEngine({ databaseUrl: own.url, headerPrefix: 'x-acme-', metadataDir: folder, adminSecret: 's' });
  await writeDirectory(folder, document({ slug: { _neq: 'X-Acm-Slug' } }));
  await expect(start()).rejects.toThrow('looks like a session variable');
  await writeDirectory(folder, document({ slug: { _eq: 'X-Acme-Slug' } }));
  const acme = await start();
  const headers = { 'x-acme-slug': 'b' };
  expect(await acme.graphql('{ doc { id } }', { role: 'user', headers })).toEqual({
    data: { doc: [{ id: 2 }] },
  });
  const permit = (value: unknown, role: string) =>
    acme.admin<{ error: string }>('pg_create_select_permission', {
      table: 'doc',
      role,
      permission: { columns: ['id'], filter: { slug: { _neq: value } } },
    });
  for (const text of ['X-Acm-Slug', 'X-Hasura-Slug']) {
    const { status, body } = await permit(text, 'other');
    expect(status).toBe(400);
    expect(body.error).toContain('did you mean "X-Acme-Slug"');
  }
  expect(await permit({ $literal: 'X-Acme-Slug' }, 'literal')).toMatchObject({ status: 200 });
  const { body } = await acme.admin('export_metadata', {});
  expect(JSON.stringify(body)).toContain('{"$literal":"X-Acme-Slug"}');
  expect((await acme.graphql('{ doc { id } }', { role: 'literal' })).data).toEqual({
    doc: [{ id: 1 }, { id: 2 }],
  });
  await acme.close();
  await own.drop();
  await rm(folder, { recursive: true });
});
