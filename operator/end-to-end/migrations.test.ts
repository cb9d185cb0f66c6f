/** Tests Migrations with the real engine and a real Postgres: they run before the resources of their source change, and those wait for them. */
import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { folderOf } from '../../testing/migrate/folder.ts';
import { engineClient } from '../engine/client.ts';
import { planAsMarkdown } from '../folder/markdown.ts';
import { planAsJson, printPlan } from '../folder/print.ts';
import { consentOf } from '../grants/consent.ts';
import type { CrStatus, CustomResource } from '../kinds.ts';
import { digestOf } from '../migrations/content.ts';
import { plan } from '../pass/plan.ts';
import { type PreviousPass, reconcile } from '../pass/reconcile.ts';
import type { MigrationsRequest } from '../ports/migrations.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { PassPlan } from '../status/report.ts';
import { OPTIONS, permission, resource, snapshotOf, table } from '../testing/resources.ts';

let database: TestDatabase;
let engine: TestEngine;
let statuses: Map<string, CrStatus>;
let requests: MigrationsRequest[];
let before: PreviousPass;

beforeEach(async () => {
  database = await createDatabase();
  await database.sql('create table author (id int primary key, name text)');
  engine = await startTestEngine({
    databaseUrl: database.url,
    sourceCheckInterval: 3600,
    env: { OTHER: database.url },
  });
  statuses = new Map();
  requests = [];
  before = {};
});
afterEach(async () => {
  await engine.close();
  await database.drop();
});

/** Runs a pass and returns the reason of each resource. */
async function pass(
  resources: readonly CustomResource[],
  given: Partial<CrSnapshot> = {},
  options: Partial<ReconcileOptions> = {},
) {
  const client = engineClient({ url: engine.url, adminSecret: engine.adminSecret });
  const report = await reconcile(
    {
      engine: {
        ...client,
        migrate: (request) => {
          requests.push(request);
          return client.migrate(request);
        },
      },
      source: { snapshot: async () => snapshotOf(resources, given) },
      sink: {
        publish: async (changes) => {
          for (const { cr, status } of changes) statuses.set(cr.metadata.name, status);
          return 0;
        },
      },
      clock: { now: () => new Date(), sleep: async () => {}, random: () => 0 },
    },
    { ...OPTIONS, ...options },
    before,
  );
  before = { passState: report.passState, backoff: report.backoff, heldBack: report.heldBack };
  expect(report.problem).toBeUndefined();
  return Object.fromEntries(resources.map(({ metadata: { name } }) => [name, reasonOf(name)]));
}
const readyOf = (name: string) => statuses.get(name)!.conditions!.find(({ type }) => type === 'Ready')!;
const reasonOf = (name: string) => readyOf(name).reason;
const messageOf = (name: string) => readyOf(name).message;

const migration = (files: Readonly<Record<string, string>>, name = 'schema', more: object = {}) =>
  resource('Migration', name, {
    files: Object.entries(files).map(([file, sql]) => ({ name: file, sql })),
    ...more,
  });
const BOOK = { '1_book.sql': 'create table book (id int primary key, title text)' };
const asUser = (query: string) => engine.graphql(query, { role: 'user' });

test('one pass creates a table and serves it; later passes do not run it again', async () => {
  const resources = [permission('reads', 'book', 'user', ['id']), table('book'), migration(BOOK)];
  expect(await pass(resources)).toEqual({ reads: 'Applied', book: 'Applied', schema: 'Applied' });
  expect(messageOf('schema')).toBe('The newest version is 1.');
  expect((await asUser('{ book { id } }')).data).toEqual({ book: [] });
  const count = requests.length;
  expect(await pass(resources)).toEqual({ reads: 'Applied', book: 'Applied', schema: 'Applied' });
  expect(requests).toHaveLength(count);
  expect(messageOf('schema')).toBe('The newest version is 1.');
});

test('while objects of the source are broken, the engine says whether the migration is applied: a database set up anew gets it again', async () => {
  const resources = [
    permission('reads', 'book', 'user', ['id']),
    table('book'),
    migration(BOOK),
    table('author'),
  ];
  await pass(resources);
  await database.sql('alter table author rename to writer');
  await engine.admin('reload_metadata', {});
  expect(await pass(resources)).toMatchObject({
    schema: 'Applied',
    book: 'Applied',
    author: 'DependencyNotReady',
  });
  await database.sql(
    'alter table writer rename to author; drop table book; drop schema pergola_migrations cascade',
  );
  await engine.admin('reload_metadata', {});
  expect(await pass(resources)).toMatchObject({ schema: 'Applied', book: 'Applied', author: 'Applied' });
  await database.sql('drop schema pergola_migrations cascade; alter table author rename to writer');
  await engine.admin('reload_metadata', {});
  expect(await pass(resources)).toMatchObject({ schema: 'MigrationFailed' });
  expect(messageOf('schema')).toContain('relation "book" already exists');
});

test('a migration that fails leaves the API as it was, and resources of the source wait for it', async () => {
  const author = table('author');
  const reads = permission('reads', 'author', 'user', ['id', 'name']);
  await pass([author, reads]);
  const wrong = migration({ '1_born.sql': 'alter table author add born int;\nselect nope' });
  const changed = permission('reads', 'author', 'user', ['id', 'born']);
  expect(await pass([author, changed, wrong])).toEqual({
    author: 'DependencyNotReady',
    reads: 'DependencyNotReady',
    schema: 'MigrationFailed',
  });
  expect(messageOf('schema')).toBe(
    '1_born.sql:2: statement 2 of 2 failed: column "nope" does not exist (42703).',
  );
  expect(messageOf('reads')).toContain('Waits for Migration default/schema: 1_born.sql:2: ');
  expect((await asUser('{ author { id name } }')).data).toEqual({ author: [] });
  const right = migration({ '1_born.sql': 'alter table author add born int' });
  expect(await pass([author, changed, right])).toEqual({
    author: 'Applied',
    reads: 'Applied',
    schema: 'Applied',
  });
  expect((await asUser('{ author { id born } }')).data).toEqual({ author: [] });
});

test('a column that a permission uses can be dropped only together with the permission', async () => {
  const author = table('author');
  const reads = permission('reads', 'author', 'user', ['id', 'name']);
  await pass([author, reads]);
  const drop = migration({ '1_drop.sql': 'alter table author drop name' });
  expect(await pass([author, reads, drop])).toMatchObject({ schema: 'MigrationFailed' });
  expect(messageOf('schema')).toMatch(
    /^1 drop would break an object that the API serves; change the resources together/,
  );
  expect((await asUser('{ author { id name } }')).data).toEqual({ author: [] });
  const narrower = permission('reads', 'author', 'user', ['id']);
  expect(await pass([author, narrower, drop])).toEqual({
    author: 'Applied',
    reads: 'Applied',
    schema: 'Applied',
  });
  expect((await asUser('{ author { id } }')).data).toEqual({ author: [] });
});

test('a migration does not rely on a change that the Engine holds back until it is confirmed', async () => {
  const holding = { policies: { ...OPTIONS.policies, holdBack: ['Breaking'] as const } };
  const author = table('author');
  await pass([author, permission('reads', 'author', 'user', ['id', 'name'])], {}, holding);
  const narrower = permission('reads', 'author', 'user', ['id'], { generation: 2 });
  const drop = migration({ '1_drop.sql': 'alter table author drop name' });
  expect(await pass([author, narrower, drop], {}, holding)).toMatchObject({
    reads: 'DependencyNotReady',
    schema: 'MigrationFailed',
  });
  expect((await asUser('{ author { id name } }')).data).toEqual({ author: [] });
  const [, hash] = /TablePermission default\/reads \(([0-9a-f]+)\)/.exec(messageOf('schema'))!;
  expect(await pass([author, narrower, drop], {}, { ...holding, confirmChange: hash })).toEqual({
    author: 'Applied',
    reads: 'Applied',
    schema: 'Applied',
  });
  expect((await asUser('{ author { name } }')).errors?.[0]?.message).toContain("field 'name' not found");
});

test('a resource that is wrong by itself does not stop a migration', async () => {
  const orphan = permission('orphan', 'nowhere', 'user', ['id']);
  expect(await pass([orphan, table('book'), migration(BOOK)])).toMatchObject({
    orphan: 'DependencyNotReady',
    book: 'Applied',
    schema: 'Applied',
  });
});

test('a source, its migration and its table are applied in one pass', async () => {
  const source = resource('Source', 'other', { name: 'other', connection: { url: { env: 'OTHER' } } });
  const book = resource('Table', 'book', { source: 'other', table: 'book' });
  const schema = migration(BOOK, 'schema', { source: 'other' });
  expect(await pass([book, schema, source])).toEqual({
    book: 'Applied',
    schema: 'Applied',
    other: 'Applied',
  });
});

test('resources of other sources do not wait', async () => {
  const wrong = migration({ '1_a.sql': 'select nope' }, 'schema', { source: 'absent' });
  expect(await pass([wrong, table('author')])).toEqual({ schema: 'DependencyNotReady', author: 'Applied' });
  expect(messageOf('schema')).toBe(
    'The engine has no source absent yet; apply a Source for it, or correct spec.source.',
  );
});

test('a source has one Migration, the oldest', async () => {
  const second = resource(
    'Migration',
    'second',
    { files: [{ name: '2_a.sql', sql: 'create table second (id int)' }] },
    { creationTimestamp: '2025-02-01T00:00:00Z' },
  );
  expect(await pass([second, migration(BOOK)])).toEqual({ second: 'Conflict', schema: 'Applied' });
  expect(messageOf('second')).toBe(
    'Migration default/schema, which comes first, has the migrations of source default; move the files there and delete this resource.',
  );
  expect(await database.sql(`select to_regclass('second') as found`)).toEqual([{ found: null }]);
});

test('files may be keys of a ConfigMap; a missing one is named and nothing runs', async () => {
  const schema = resource('Migration', 'schema', {
    files: [{ name: '1_book.sql', configMapKeyRef: { name: 'sql', key: 'book' } }],
  });
  expect(await pass([schema])).toEqual({ schema: 'DependencyNotReady' });
  expect(messageOf('schema')).toBe(
    'spec.files[0].configMapKeyRef: there is no key book in a ConfigMap default/sql.',
  );
  expect(requests).toEqual([]);
  const configMap = (namespace: string, name: string, key: string) =>
    namespace === 'default' && name === 'sql' && key === 'book' ? BOOK['1_book.sql'] : undefined;
  const references = { secret: () => undefined, configMap };
  const pinned = {
    ...schema,
    spec: { ...schema.spec, sha256: digestOf([{ name: '1_book.sql', sql: BOOK['1_book.sql'] }]) },
  };
  expect(await pass([pinned, table('book')], { references })).toEqual({ schema: 'Applied', book: 'Applied' });
});

/** References to a ConfigMap `sql`. */
const having = (data: Readonly<Record<string, string>>, isFiles = false) => ({
  references: {
    secret: () => undefined,
    configMap: (_: string, name: string, key: string) => (name === 'sql' ? data[key] : undefined),
    configMapKeys: (_: string, name: string) => (name === 'sql' ? Object.keys(data) : undefined),
    isFiles,
  },
});
const fromConfigMap = (more: object = {}) =>
  resource('Migration', 'schema', { configMapRef: { name: 'sql' }, ...more });
const digestOfData = (data: Readonly<Record<string, string>>) =>
  digestOf(Object.entries(data).map(([name, sql]) => ({ name, sql })));
const ISBN = { ...BOOK, '2_isbn.sql': 'alter table book add isbn text' };

test('a ConfigMap may have all files; its later keys run, and a missing one is named', async () => {
  const schema = fromConfigMap({ allowConfigMapChanges: true });
  expect(await pass([schema, table('author')])).toEqual({
    schema: 'DependencyNotReady',
    author: 'DependencyNotReady',
  });
  expect(messageOf('schema')).toBe(
    'There is no ConfigMap default/sql; create it, or correct spec.configMapRef.',
  );
  const all = { schema: 'Applied', author: 'Applied', book: 'Applied' };
  const resources = [schema, table('author'), table('book')];
  expect(await pass(resources, having({ ...BOOK, 'README.md': 'the tables' }))).toEqual(all);
  expect(await pass(resources, having({ ...ISBN, 'README.md': 'the tables' }))).toEqual(all);
  expect(messageOf('schema')).toBe('The newest version is 2.');
  expect((await engine.graphql('{ book { isbn } }')).data).toEqual({ book: [] });
});

test('new files from a ConfigMap need their digest, and other files do not run with it', async () => {
  const isNew = { schema: 'NotPermitted', book: 'DependencyNotReady' };
  expect(await pass([fromConfigMap(), table('book')], having(BOOK))).toEqual(isNew);
  const digest = digestOfData(BOOK);
  expect(messageOf('schema')).toBe(
    `1_book.sql would run from a ConfigMap, which editors of the namespace may change; review the SQL and add spec.sha256: ${digest}, or ` +
      'allow every change with spec.allowConfigMapChanges: true.',
  );
  expect(requests.every(({ isDryRun }) => isDryRun)).toBe(true);
  const pinned = fromConfigMap({ sha256: digest });
  const applied = { schema: 'Applied', book: 'Applied' };
  expect(await pass([pinned, table('book')], having(BOOK))).toEqual(applied);
  const hostile: readonly Readonly<Record<string, string>>[] = [
    { ...BOOK, '2_evil.sql': 'drop table author' },
    { '1_book.sql': 'drop table author' },
    { '0_evil.sql': BOOK['1_book.sql'] },
    {},
  ];
  for (const data of hostile) {
    const count = requests.length;
    expect(await pass([pinned, table('book')], having(data))).toEqual({
      schema: 'DependencyNotReady',
      book: 'DependencyNotReady',
    });
    expect(messageOf('schema')).toContain(`their digest is ${digestOfData(data)}`);
    expect(requests).toHaveLength(count);
    expect((await engine.graphql('{ book { id } author: __typename }')).data).toMatchObject({ book: [] });
  }
  expect(await pass([fromConfigMap({ sha256: digestOfData(ISBN) }), table('book')], having(ISBN))).toEqual(
    applied,
  );
});

test('files of a ConfigMap that have run keep working without a digest, and the message says that new ones need it', async () => {
  const applied = { schema: 'Applied', book: 'Applied' };
  const allowing = fromConfigMap({ allowConfigMapChanges: true });
  expect(await pass([allowing, table('book')], having(BOOK))).toEqual(applied);
  const installed = [fromConfigMap(), table('book')];
  before = {};
  expect(await pass(installed, having(BOOK))).toEqual(applied);
  expect(messageOf('schema')).toBe(
    `The newest version is 1; more files of a ConfigMap need spec.sha256 (now ${digestOfData(BOOK)}) or spec.allowConfigMapChanges.`,
  );
  expect(await pass(installed, having(ISBN))).toMatchObject({ schema: 'NotPermitted' });
  expect((await engine.graphql('{ book { id } }')).data).toEqual({ book: [] });
  expect(await database.sql('select version::int from pergola_migrations.migration')).toEqual([
    { version: 1 },
  ]);
});

test('in folder mode a ConfigMap needs no digest, and one that is given is compared', async () => {
  expect(await pass([fromConfigMap({ sha256: digestOfData(ISBN) })], having(BOOK, true))).toEqual({
    schema: 'DependencyNotReady',
  });
  expect(await pass([fromConfigMap()], having(BOOK, true))).toEqual({ schema: 'Applied' });
});

test('a digest is what sha256sum prints', () => {
  const folder = folderOf({ '10_b.sql': 'select 1;\n', '2_a.sql': '', '2_ä.sql': 'ä' });
  const printed = execFileSync('sh', ['-c', 'LC_ALL=C; export LC_ALL; sha256sum *.sql | sha256sum'], {
    cwd: folder,
  });
  const digest = digestOfData({ '2_ä.sql': 'ä', '2_a.sql': '', '10_b.sql': 'select 1;\n' });
  expect(printed.toString()).toBe(`${digest}  -\n`);
});

test('a paused Migration does not run, and nothing waits for it', async () => {
  const schema = resource(
    'Migration',
    'schema',
    { files: [{ name: '1_book.sql', sql: BOOK['1_book.sql'] }] },
    { annotations: { 'pergola.dev/plan': 'true' } },
  );
  expect(await pass([schema, table('author')])).toEqual({ schema: 'Paused', author: 'Applied' });
  expect(requests.map(({ isDryRun }) => isDryRun)).toEqual([true]);
  expect(statuses.get('schema')!.plan!.join()).toContain('would run: 1_book.sql');
  expect(await database.sql(`select to_regclass('book') as found`)).toEqual([{ found: null }]);
});

test('another namespace needs a grant that names the kind', async () => {
  const schema = resource(
    'Migration',
    'schema',
    {
      engineRef: { name: 'main', namespace: 'api' },
      files: [{ name: '1_book.sql', sql: BOOK['1_book.sql'] }],
    },
    { namespace: 'team' },
  );
  const withGrants = (...grants: readonly object[]) => {
    const spec = { allowedNamespaces: { from: 'All' }, grants };
    const main = resource('Engine', 'main', spec, { namespace: 'api' });
    return { consent: consentOf(main, new Set(['team']), () => ({})) };
  };
  const grant = {
    name: 'team',
    namespaces: ['team'],
    sources: ['default'],
    tables: ['public.*'],
    roles: ['*'],
  };
  for (const given of [withGrants(), withGrants(grant), withGrants({ ...grant, kinds: ['Table'] })]) {
    expect(await pass([schema], given)).toEqual({ schema: 'NotPermitted' });
  }
  expect(requests).toEqual([]);
  const kinds = ['Migration', 'Source'];
  expect(await pass([schema], withGrants({ ...grant, kinds, tables: ['*'] }))).toEqual({ schema: 'Applied' });
});

test('a migration that runs elsewhere is waited for', async () => {
  const blocker = await import('pg').then(
    ({ default: pg }) => new pg.Client({ connectionString: database.url }),
  );
  await blocker.connect();
  try {
    await blocker.query('select pg_advisory_lock(7883955472886558753)');
    expect(await pass([migration(BOOK), table('author')])).toEqual({
      schema: 'MigrationRunning',
      author: 'DependencyNotReady',
    });
  } finally {
    await blocker.end();
  }
  await expect
    .poll(() => pass([migration(BOOK), table('author')]), { timeout: 10_000, interval: 200 })
    .toEqual({ schema: 'Applied', author: 'Applied' });
});

test('a plan names the files that would run, and runs none', async () => {
  const client = engineClient({ url: engine.url, adminSecret: engine.adminSecret });
  const planOf = (...resources: readonly CustomResource[]) => plan(client, snapshotOf(resources), OPTIONS);
  const textOf = (made: PassPlan) =>
    stripVTControlCharacters(
      printPlan(made, { schemas: [], isComplete: true }, { positions: new Map(), broken: 0 }),
    );
  const files = { ...BOOK, '2_isbn.sql': 'alter table book add isbn text' };
  const made = await planOf(table('author'), table('book'), migration(files));
  const text = textOf(made);
  expect(text).toContain('> Migration default/schema  would run: 1_book.sql, 2_isbn.sql\n');
  expect(text).toMatch(/> Table default\/book {2}before Migration default\/schema: .*book/);
  expect(text).toMatch(/\n2 migrations to run, 1 to create\.$/);
  expect(
    planAsMarkdown(made, {
      problems: [],
      refused: [],
      positions: new Map(),
      effects: { schemas: [], isComplete: true },
    }),
  ).toContain('**Migrations**');
  expect(planAsJson(made, { schemas: [], isComplete: true }, { problems: [], refused: [] })).toMatchObject({
    migrations: [{ resource: 'Migration default/schema', files: ['1_book.sql', '2_isbn.sql'] }],
  });
  expect(await database.sql(`select to_regclass('book') as found`)).toEqual([{ found: null }]);
  await pass([table('author'), table('book'), migration(files)]);
  expect(textOf(await planOf(table('author'), table('book'), migration(files)))).toBe('No difference.');
  const edited = migration({ ...files, '1_book.sql': 'create table book (id bigint)' });
  expect(textOf(await planOf(table('author'), table('book'), edited))).toContain(
    '! Migration default/schema  MigrationFailed: 1 book: the file was edited after it was applied',
  );
});
