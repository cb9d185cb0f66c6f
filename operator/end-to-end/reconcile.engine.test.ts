/** Tests the pass against the real engine and a real Postgres. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { engineClient } from '../engine/client.ts';
import type { CrStatus, CustomResource } from '../kinds.ts';
import { reconcile } from '../pass/reconcile.ts';
import { OPTIONS, permission, resource, snapshotOf, table } from '../testing/resources.ts';

const ENV = { FAR: 'postgres://127.0.0.1:9/far', JUNK: 'no certificate' };

const database = testDatabase();
let engine: TestEngine;
const statuses = new Map<string, CrStatus>();

beforeAll(async () => {
  await database.sql(`
    create table author (id int primary key, name text, born int);
    create table book (id int primary key, author_id int references author, title text);
    insert into author values (1, 'Lem', 1921), (2, 'Calvino', 1923);
    insert into book values (1, 1, 'Solaris')`);
  engine = await startTestEngine({
    databaseUrl: database.url,
    env: ENV,
  });
});
afterAll(() => engine?.close());
afterEach(async () => {
  statuses.clear();
  await pass([]);
  await engine.admin('clear_metadata', {});
});

async function pass(resources: readonly CustomResource[]) {
  return reconcile(
    {
      engine: engineClient({ url: engine.url, adminSecret: engine.adminSecret }),
      source: {
        snapshot: async () =>
          snapshotOf(
            resources.map((cr) => {
              const status = statuses.get(cr.metadata.uid);
              return status ? { ...cr, status } : cr;
            }),
          ),
      },
      sink: {
        publish: async (changes) => {
          for (const { cr, status } of changes) statuses.set(cr.metadata.uid, status);
          return 0;
        },
      },
      clock: { now: () => new Date(), sleep: async () => {}, random: () => 0 },
    },
    OPTIONS,
  );
}

const ready = (cr: CustomResource) => {
  const found = statuses.get(cr.metadata.uid)?.conditions.find(({ type }) => type === 'Ready');
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};
const authors = (field: string, role = 'reader') => engine.graphql(`{ author { ${field} } }`, { role });
const version = () => engineClient({ url: engine.url, adminSecret: engine.adminSecret }).version();

const book = table('book', {
  spec: { objectRelationships: [{ name: 'author', foreignKey: { columns: ['author_id'] } }] },
});
const author = table('author', {
  spec: {
    configuration: { columns: [{ name: 'born', customName: 'bornIn' }] },
    arrayRelationships: [{ name: 'books', foreignKey: { columns: ['author_id'], table: 'book' } }],
  },
});
const reader = permission('reader', 'author', 'reader', ['name']);

test('one write turns a folder of resources into an API, and a second pass changes nothing', async () => {
  const before = await version();
  const report = await pass([reader, book, author]);
  expect([reader, book, author].map(ready)).toEqual([
    'True Applied: 1 object applied.',
    'True Applied: 2 objects applied.',
    'True Applied: 2 objects applied.',
  ]);
  expect(report.resourceVersion).toBe(before + 1);
  expect(await authors('name')).toEqual({ data: { author: [{ name: 'Lem' }, { name: 'Calvino' }] } });
  expect((await authors('bornIn')).errors?.[0]?.message).toContain("field 'bornIn' not found");
  expect(
    (await engine.graphql('{ author(where: {id: {_eq: 1}}) { bornIn books { title author { name } } } }'))
      .data,
  ).toEqual({
    author: [{ bornIn: 1921, books: [{ title: 'Solaris', author: { name: 'Lem' } }] }],
  });
  expect((await pass([reader, book, author])).wasWritten).toBe(false);
  expect(await version()).toBe(before + 1);
});

test('a resource repairs its object that the engine cannot read, and another damaged object stays as it is stored', async () => {
  await pass([author, book, reader]);
  const foreign = { role: 'guest', permission: { columns: ['id'], filter: {} } };
  await engine.admin('pg_create_select_permission', { table: 'author', ...foreign });
  const exported = async () => {
    const { body } = await engine.admin<{ metadata: unknown }>('export_metadata', {}, { version: 2 });
    return JSON.stringify(body.metadata);
  };
  const before = await exported();
  const damaged = before
    .replace('"columns":["name"]', '"columns":7')
    .replace('"columns":["id"]', '"columns":8');
  await engine.close();
  await database.sql(
    `update pergola.whole set content = '${damaged}', resource_version = (select resource_version from pergola.metadata)
      where part = 'document' and resource_version = (select max(resource_version) from pergola.whole where part = 'document')`,
  );
  engine = await startTestEngine({ databaseUrl: database.url, env: ENV });
  expect(await authors('name')).toHaveProperty('errors');
  expect(await engine.graphql('{ author { id } }')).not.toHaveProperty('errors');
  await pass([author, book, reader]);
  expect(ready(reader)).toBe('True Applied: 1 object applied.');
  expect(await authors('name')).not.toHaveProperty('errors');
  expect(await authors('id', 'guest')).toHaveProperty('errors');
  expect(JSON.parse(await exported())).toEqual(JSON.parse(before.replace('"columns":["id"]', '"columns":8')));
});

test('objects created through the admin API are never changed and do not block owned objects', async () => {
  await pass([author, book]);
  await engine.admin('pg_create_select_permission', {
    table: 'author',
    role: 'guest',
    permission: { columns: ['id'], filter: { id: { _gt: 1 } } },
  });
  await pass([author, book, reader]);
  expect(await authors('id', 'guest')).toEqual({ data: { author: [{ id: 2 }] } });
  expect((await authors('name')).data).toBeDefined();
  const changed = permission('reader', 'author', 'reader', ['id'], { generation: 2 });
  await pass([author, book, changed]);
  expect(await authors('id', 'guest')).toEqual({ data: { author: [{ id: 2 }] } });
});

test('drift on an owned object is corrected', async () => {
  await pass([author, book, reader]);
  await engine.admin('pg_drop_select_permission', { table: 'author', role: 'reader' });
  await engine.admin('pg_create_select_permission', {
    table: 'author',
    role: 'reader',
    permission: { columns: '*', filter: {} },
  });
  expect((await authors('id')).data).toBeDefined();
  const report = await pass([author, book, reader]);
  expect(report.plan?.decisions.filter(({ action }) => action === 'correct').map(({ key }) => key)).toEqual([
    'select_permission/default/public/author/reader',
  ]);
  expect((await authors('id')).errors?.[0]?.message).toContain("field 'id' not found");
});

test('an owned object that was dropped by hand is restored', async () => {
  await pass([author, book, reader]);
  await engine.admin('pg_untrack_table', { table: 'author', cascade: true });
  await pass([author, book, reader]);
  expect((await authors('name')).data).toBeDefined();
});

test('the second of two resources with the same permission reports a conflict', async () => {
  const rival = permission('rival', 'author', 'reader', ['id'], {
    creationTimestamp: '2025-03-01T00:00:00Z',
  });
  await pass([author, book, rival, reader]);
  expect(ready(reader)).toContain('True Applied');
  expect(ready(rival)).toContain('False Conflict: Select permission default/public/author/reader belongs to');
  expect((await authors('name')).data).toBeDefined();
});

test('deleting a resource removes its objects', async () => {
  await pass([author, book, reader]);
  await pass([author, book]);
  expect((await authors('name')).errors?.[0]?.message).toContain("field 'author' not found");
  await pass([]);
  expect((await engine.graphql('{ author { id } }')).errors?.[0]?.message).toContain(
    "field 'author' not found",
  );
});

test('broken resources do not block others and report the error of the engine', async () => {
  const noTable = table('poem');
  const onNoTable = permission('poet', 'poem', 'reader');
  const noColumn = permission('editor', 'author', 'editor', ['salary']);
  const badFilter = resource('TablePermission', 'bad', {
    source: 'default',
    table: 'book',
    role: 'reader',
    select: { columns: ['title'], filter: { title: { _gt_lt: 3 } } },
  });
  await pass([noTable, onNoTable, noColumn, badFilter, author, book, reader]);
  expect([author, book, reader].map(ready).every((text) => text.startsWith('True Applied'))).toBe(true);
  expect(ready(noTable)).toMatch(/^False DependencyNotReady: Table default\/public\/poem: .*poem/);
  expect(ready(onNoTable)).toMatch(/^False DependencyNotReady: .* waits for table default\/public\/poem/);
  expect(ready(noColumn)).toMatch(
    /^False \w+: Select permission default\/public\/author\/editor at spec\.select\.columns\[0\]: .*salary/,
  );
  expect(ready(badFilter)).toMatch(/^False RejectedByEngine: .* at spec\.select\.filter\.title\._gt_lt: /);
  expect((await authors('name')).data).toBeDefined();
  const { body } = await engine.admin<{ is_consistent: boolean }>('get_inconsistent_metadata', {});
  expect(body.is_consistent).toBe(true);
});

test('a table created later is tracked after the engine reloads the catalog', async () => {
  const poem = table('poem');
  expect((await pass([poem])).isWaiting).toBe(true);
  await database.sql('create table poem (id int primary key)');
  await engineClient({ url: engine.url, adminSecret: engine.adminSecret }).reload();
  await pass([poem]);
  expect(ready(poem)).toContain('True Applied');
  await pass([]);
  await database.sql('drop table poem');
});

test('a dropped table is reported without a write', async () => {
  await database.sql('create table poem (id int primary key)');
  const client = engineClient({ url: engine.url, adminSecret: engine.adminSecret });
  await client.reload();
  const poem = table('poem');
  await pass([poem, author, book]);
  await database.sql('drop table poem');
  await client.reload();
  const report = await pass([poem, author, book]);
  expect(report.wasWritten).toBe(false);
  expect(ready(poem)).toContain('False DependencyNotReady');
  expect(ready(author)).toContain('True Applied');
});

test('a source whose database does not respond is kept and waits', async () => {
  const source = resource('Source', 'far', {
    name: 'far',
    connection: { url: { env: 'PERGOLA_TEST_NO_SUCH_VARIABLE' } },
    deletionPolicy: 'Delete',
  });
  const inIt = resource('Table', 'far', { source: 'far', table: 'thing' });
  await pass([source, inIt, author, book]);
  expect(ready(source)).toContain('False SourceUnavailable');
  expect(ready(inIt)).toContain('False SourceUnavailable');
  expect(ready(author)).toContain('True Applied');
});

test('a source with an invalid certificate is rejected with the field, and resources in it wait', async () => {
  const source = resource('Source', 'safe', {
    name: 'safe',
    connection: {
      url: { env: 'FAR' },
      tls: { mode: 'VerifyCa', rootCertificate: { env: 'JUNK' } },
    },
  });
  const inIt = resource('Table', 'safe', { source: 'safe', table: 'thing' });
  await pass([source, inIt, author, book]);
  const refusal =
    'Source safe at spec.connection.tls.rootCertificate: sslrootcert is not a certificate in PEM.';
  expect(ready(source)).toBe(`False RejectedByEngine: ${refusal}`);
  expect(ready(inIt)).toMatch(
    /^False DependencyNotReady: Table safe\/public\/thing waits for source safe \(/,
  );
  expect(ready(author)).toContain('True Applied');
});

test('an invalid query is reported with its field', async () => {
  const collection = resource('QueryCollection', 'mobile', {
    name: 'mobile',
    queries: [
      { name: 'names', query: '{ author { name } }' },
      { name: 'wages', query: '{ author { wage } }' },
    ],
  });
  await pass([author, book, collection]);
  expect(ready(collection)).toMatch(
    /^False RejectedByEngine: Query collection mobile at spec\.queries\[1\]: /,
  );
});

test('a query collection and its entry on the allow list are created and deleted together', async () => {
  const collection = resource('QueryCollection', 'mobile', {
    name: 'mobile',
    queries: [{ name: 'names', query: 'query names { author { name } }' }],
    allowlist: { scope: { roles: ['reader'] } },
  });
  await pass([author, book, reader, collection]);
  const exported = async () => (await engine.admin<Record<string, unknown>>('export_metadata', {})).body;
  expect(await exported()).toMatchObject({
    query_collections: [{ name: 'mobile' }],
    allowlist: [{ collection: 'mobile', scope: { global: false, roles: ['reader'] } }],
  });
  await pass([author, book, reader]);
  expect(await exported()).not.toHaveProperty('query_collections');
});

test('a pass succeeds while other clients write metadata, and loses none of their changes', async () => {
  const others = Array.from({ length: 10 }, (_, i) =>
    engine.admin('create_query_collection', { name: `other${i}`, definition: { queries: [] } }),
  );
  const [report] = await Promise.all([pass([author, book, reader]), ...others]);
  expect(report.problem).toBeUndefined();
  expect((await authors('name')).data).toBeDefined();
  const { body } = await engine.admin<{ query_collections: unknown[] }>('export_metadata', {});
  expect(body.query_collections).toHaveLength(10);
});

test('exported metadata does not contain the ledger', async () => {
  await pass([author, book]);
  const { body } = await engine.admin('export_metadata', {});
  expect(JSON.stringify(body)).not.toContain('deletionPolicy');
});

test('a wrong admin secret is reported as unauthorized', async () => {
  const client = engineClient({ url: engine.url, adminSecret: 'wrong' });
  await expect(client.read()).rejects.toMatchObject({ kind: 'unauthorized' });
});

const inheritedRole = (name: string, roles: readonly string[], day: number) =>
  resource('InheritedRole', name, { role: name, roles }, { creationTimestamp: `2025-02-0${day}T00:00:00Z` });

test('the newest role of a cycle of inherited roles is left out, and all others are applied', async () => {
  const [a, b, alone] = [
    inheritedRole('a', ['b'], 1),
    inheritedRole('b', ['reader', 'a'], 2),
    inheritedRole('c', ['c'], 3),
  ];
  // The role b exists because of its own permission, without the inherited role.
  const ofB = permission('b', 'book', 'b');
  const { problem } = await pass([b, a, alone, author, book, reader, ofB]);
  expect(problem).toBeUndefined();
  expect([a, author, book, reader, ofB].map(ready).filter((text) => !text.startsWith('True'))).toEqual([]);
  expect(ready(b)).toBe(
    'False RejectedByEngine: Inherited role b: found cycle(s) in roles: ["a","b","a"]; ' +
      'it does not go together with inherited role a of InheritedRole default/a.',
  );
  expect(ready(alone)).toContain('found cycle(s) in roles: ["c","c"]');
  expect((await authors('name')).data).toBeDefined();
});

test('a resource that only the write rejects is left out: a trigger on a view', async () => {
  await database.sql('create view writer as select * from author');
  await engineClient({ url: engine.url, adminSecret: engine.adminSecret }).reload();
  const trigger = resource('EventTrigger', 'bad', {
    name: 'on_writer',
    source: 'default',
    table: 'writer',
    webhook: { url: 'http://127.0.0.1:9/' },
    insert: { columns: '*' },
  });
  const { problem } = await pass([table('writer'), trigger, author, book, reader]);
  expect(problem).toBeUndefined();
  expect([author, book, reader].map(ready).every((text) => text.startsWith('True Applied'))).toBe(true);
  expect(ready(trigger)).toMatch(/^False /);
  await pass([]);
  await database.sql('drop view writer');
});
