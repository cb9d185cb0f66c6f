/** `list_objects` and `describe_object` with the console secret: what they say of tables and relationships, that they run no statement, and that no
 *  answer contains a secret of the document, whatever is wrong with it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { plantedDocument, SECRETS } from '../metadata/testing/planted-secrets.ts';

const SECRET = 'console-secret-of-the-test';

const database = testDatabase();
const source = testDatabase();
let engine: TestEngine;

beforeAll(async () => {
  await source.sql(`
    create table color (name text primary key, meaning text);
    insert into color values ('red', 'stop'), ('green', 'go');
    create table author (id int primary key, name text not null);
    create table book (id int primary key, title text, author_id int references author, color text references color);
    comment on column book.title is 'Of the database';
    comment on column book.author_id is 'Who wrote it';
    create view newest as select * from book`);
  engine = await startTestEngine({ databaseUrl: database.url, consoleSecret: SECRET });
});
afterAll(() => engine?.close());

// biome-ignore lint/suspicious/noExplicitAny: answers of two operations
async function perform(type: string, args: object = {}): Promise<any> {
  const response = await fetch(`${engine.url}/v1/metadata`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-console-secret': SECRET },
    body: JSON.stringify({ type, args }),
  });
  return response.json();
}

const replace = (document: object) =>
  engine.admin<{ inconsistent_objects: readonly object[] }>(
    'replace_metadata',
    { metadata: document, allow_inconsistent_metadata: true },
    { version: 2 },
  );
const named = (name: string) => ({ schema: 'public', name });

describe('on a database', () => {
  beforeAll(async () => {
    const tables = [
      { table: named('color'), is_enum: true },
      {
        table: named('author'),
        array_relationships: [
          {
            name: 'books',
            using: { foreign_key_constraint_on: { table: named('book'), columns: ['author_id'] } },
          },
        ],
      },
      {
        table: named('book'),
        configuration: { comment: 'Books of the shop', column_config: { title: { comment: 'As printed' } } },
        object_relationships: [
          { name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
          { name: 'lost', using: { foreign_key_constraint_on: 'auther_id' } },
        ],
        select_permissions: [{ role: 'reader', permission: { columns: ['id'], filter: {} } }],
      },
      { table: named('newest') },
      { table: named('missing') },
    ];
    const configuration = { connection_info: { database_url: source.url } };
    await replace({ version: 3, sources: [{ name: 'shop', kind: 'postgres', configuration, tables }] });
    // Without its database, no statement can succeed.
    const name = new URL(source.url).pathname.slice(1);
    await database.sql(`alter database "${name}" allow_connections false`);
    await database.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  });

  test('objects are listed with what they lead to, permissions are not', async () => {
    const { objects } = await perform('list_objects');
    expect(objects).toEqual([
      { key: 'source/shop' },
      {
        key: 'table/shop/public/color',
        parent: 'source/shop',
        type: 'table',
        columns: 2,
        is_enum: true,
        root_field: 'color',
      },
      {
        key: 'table/shop/public/author',
        parent: 'source/shop',
        type: 'table',
        columns: 2,
        root_field: 'author',
      },
      {
        key: 'array_relationship/shop/public/author/books',
        parent: 'table/shop/public/author',
        type: 'array',
        to: 'table/shop/public/book',
      },
      { key: 'table/shop/public/book', parent: 'source/shop', type: 'table', columns: 4, root_field: 'book' },
      {
        key: 'object_relationship/shop/public/book/author',
        parent: 'table/shop/public/book',
        type: 'object',
        to: 'table/shop/public/author',
      },
      { key: 'object_relationship/shop/public/book/lost', parent: 'table/shop/public/book', type: 'object' },
      {
        key: 'table/shop/public/newest',
        parent: 'source/shop',
        type: 'view',
        columns: 4,
        root_field: 'newest',
      },
      { key: 'table/shop/public/missing', parent: 'source/shop' },
    ]);
  });

  test('inconsistent objects have their reason, and the names that are near', async () => {
    const { inconsistent_objects: found } = await perform('list_objects');
    expect(
      found.map(({ key, definition }: { key: string; definition: unknown }) => [key, definition]),
    ).toEqual([
      ['table/shop/public/missing', undefined],
      ['object_relationship/shop/public/book/lost', undefined],
    ]);
    expect(found[1]).toMatchObject({ reason: expect.stringContaining('auther_id'), nearest: ['author_id'] });
  });

  test('a table is described with its columns, names in GraphQL, and what is nested in it', async () => {
    const book = await perform('describe_object', { key: 'table/shop/public/book' });
    expect(book.table).toMatchObject({ type: 'table', primary_key: ['id'] });
    expect(book.table.columns[2]).toMatchObject({ name: 'author_id', type: 'int4', nullable: true });
    expect(book.graphql).toMatchObject({ type: 'book', root_fields: { select_by_pk: 'book_by_pk' } });
    expect([book.graphql.description, book.graphql.descriptions]).toEqual([
      'Books of the shop',
      { title: 'As printed', author_id: 'Who wrote it' },
    ]);
    expect(book.objects.map(({ key }: { key: string }) => key)).toEqual([
      'object_relationship/shop/public/book/author',
      'object_relationship/shop/public/book/lost',
      'select_permission/shop/public/book/reader',
    ]);
    expect(book.inconsistent_objects).toEqual([]);
    const color = await perform('describe_object', { key: 'table/shop/public/color' });
    expect(color.enum_values).toEqual([
      { name: 'green', description: 'go' },
      { name: 'red', description: 'stop' },
    ]);
    const missing = await perform('describe_object', { key: 'table/shop/public/missing' });
    expect(missing.inconsistent_objects).toHaveLength(1);
  });

  test.each(['table/shop/public/none', 'nonsense', 'table/shop', 'constructor'])(
    '%s is no object',
    async (key) => {
      expect(await perform('describe_object', { key })).toMatchObject({
        code: 'not-exists',
        error: `the metadata has no object with the key ${key}`,
        path: '$.args.key',
      });
    },
  );
});

test('what has no effect is named with its reason, without being inconsistent', async () => {
  await database.sql(
    'create table "two words" (id int primary key); create table author (id int primary key)',
  );
  const configuration = { connection_info: { database_url: database.url } };
  const tables = [{ table: named('two words') }, { table: named('author') }];
  await replace({ version: 3, sources: [{ name: 'shop', kind: 'postgres', configuration, tables }] });
  const key = 'table/shop/public/two%20words';
  const found = { key, reason: expect.stringContaining('is not a valid GraphQL name') };
  expect(await perform('list_objects')).toMatchObject({ inconsistent_objects: [], not_enforced: [found] });
  expect(await perform('describe_object', { key })).toMatchObject({ not_enforced: [found] });
  const author = await perform('describe_object', { key: 'table/shop/public/author' });
  expect(author.not_enforced).toEqual([]);
  const { tables: shown } = await perform('get_role_access', { role: 'admin' });
  expect(shown.map(({ not_enforced: reason }: { not_enforced?: string }) => reason)).toEqual([
    found.reason,
    undefined,
  ]);
});

test('what a role may do has no secret of a permission, and names session variables', async () => {
  await database.sql('create table note (id int primary key, owner text, kind text)');
  const url = 'https://hooks.example.test/secret-path';
  const headers = [{ name: 'x-key', value: 'secret-header' }];
  const insert = {
    columns: ['id'],
    check: { kind: { _eq: 'open' } },
    set: { owner: 'X-Engine-User-Id', kind: 'secret-kind' },
    validate_input: { type: 'http', definition: { url, headers } },
  };
  const tables = [{ table: named('note'), insert_permissions: [{ role: 'writer', permission: insert }] }];
  const configuration = { connection_info: { database_url: database.url } };
  await replace({ version: 3, sources: [{ name: 'shop', kind: 'postgres', configuration, tables }] });
  const shown = await perform('get_role_access', { role: 'writer' });
  expect(JSON.stringify(shown)).not.toContain('secret');
  expect(shown.tables[0].insert).toMatchObject({
    every_row: false,
    grants: [{ permission: { columns: ['id'], set: { owner: 'X-Engine-User-Id', kind: '(hidden)' } } }],
  });
  const { body } = await engine.admin<{ tables: readonly { insert: { grants: readonly object[] } }[] }>(
    'get_role_access',
    { role: 'writer' },
  );
  expect(body.tables[0]!.insert.grants).toMatchObject([{ permission: insert }]);
});

test('whether an object exists can be asked without an error', async () => {
  const question = { key: 'table/shop/public/none', if_exists: true };
  expect(await perform('describe_object', question)).toEqual({
    key: question.key,
    objects: [],
    inconsistent_objects: [],
    not_enforced: [],
  });
});

test.each(SECRETS.map((form, i) => [form('…'), i]))('secrets such as %s are in no answer', async (_, i) => {
  const { document, secrets } = plantedDocument(undefined, SECRETS[i as number]);
  const whole = document as { readonly sources: readonly object[] };
  const foreign = { name: 'foreign', kind: 'mssql', configuration: { url: 'SecretForeign' }, tables: [] };
  const answer = await replace({ ...whole, sources: [...whole.sources, foreign] });
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  const exported = JSON.stringify((await engine.admin('export_metadata', {})).body);
  const given = [...secrets, 'SecretForeign'];
  for (const secret of given) expect(exported).toContain(secret);
  const listed = await perform('list_objects');
  expect(listed.inconsistent_objects.length).toBeGreaterThan(5);
  const nested = await Promise.all(
    listed.objects.map(({ key }: { key: string }) => perform('describe_object', { key })),
  );
  const permissions = nested
    .flatMap(({ objects }) => objects.map(({ key }: { key: string }) => key))
    .filter((key: string) => key.includes('_permission/'));
  expect(permissions.length).toBeGreaterThan(5);
  const described = await Promise.all(permissions.map((key: string) => perform('describe_object', { key })));
  const text = JSON.stringify([listed, nested, described]);
  expect(given.filter((secret) => text.includes(secret))).toEqual([]);
});
