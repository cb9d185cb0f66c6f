/** Tests metadata directories with the commands `export`, `import` and `serve --metadata-dir`. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { REPOSITORIES } from '../engine/rules/testing/repositories.ts';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { captureOutput } from '../testing/output.ts';
import { run as exportCommand } from './export.ts';
import { run as importCommand } from './import.ts';

let database: TestDatabase;
let engine: TestEngine;
let folder: string;
let output: ReturnType<typeof captureOutput>;

beforeEach(async () => {
  database = await createDatabase();
  await database.sql('create table author (id int primary key, name text); create table book (id int)');
  engine = await startTestEngine({ databaseUrl: database.url });
  folder = join(mkdtempSync(join(tmpdir(), 'pergola-metadata-')), 'metadata');
  output = captureOutput();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await engine.close();
  await database.drop();
});

const flags = () => ['--engine', engine.url, '--admin-secret', engine.adminSecret];
const track = (table: string) => engine.admin('pg_track_table', { table });
const trackedTables = async (of = engine) => {
  const { body } = await of.admin<{ sources: { tables: { table: { name: string } }[] }[] }>(
    'export_metadata',
    {},
  );
  return body.sources[0]!.tables.map(({ table }) => table.name);
};
const AUTHOR = 'databases/default/tables/public_author.yaml';

test('an exported directory can be edited and imported again', async () => {
  await track('author');
  expect(await exportCommand([folder, '--as', 'metadata', ...flags()])).toBe(0);
  expect(output.text).toMatch(/^4 files in .*, resource version \d+\n$/);
  const file = join(folder, AUTHOR);
  expect(readFileSync(file, 'utf8')).toBe('table:\n  name: author\n  schema: public\n');
  writeFileSync(file, 'table: book\n');
  expect(await importCommand([folder, ...flags()])).toBe(0);
  expect(await trackedTables()).toEqual(['book']);
});

test('import rejects an inconsistent directory with every reason, and --dry-run only checks it', async () => {
  await track('author');
  await exportCommand([folder, ...flags()]);
  writeFileSync(join(folder, AUTHOR), 'table: nobody\n');
  expect(await importCommand([folder, ...flags()])).toBe(1);
  expect(output.text).toContain('table nobody in source default: ');
  expect(output.text).toContain('It does not fit. Nothing was changed.');
  expect(await trackedTables()).toEqual(['author']);
  writeFileSync(join(folder, AUTHOR), 'table: book\n');
  expect(await importCommand([folder, '--dry-run', ...flags()])).toBe(0);
  expect(await trackedTables()).toEqual(['author']);
  writeFileSync(join(folder, AUTHOR), 'table: nobody\n');
  expect(await importCommand([folder, '--allow-inconsistent', ...flags()])).toBe(0);
  expect(await trackedTables()).toEqual(['nobody']);
});

test('commands report invalid arguments and missing files', async () => {
  expect(await exportCommand([...flags()])).toBe(2);
  expect(await exportCommand([folder, '--as', 'xml', ...flags()])).toBe(2);
  expect(await importCommand([folder, '--engin', 'x'])).toBe(2);
  expect(await importCommand(['--help'])).toBe(0);
  expect(await importCommand([folder, ...flags()])).toBe(1);
  expect(output.text).toContain(`pergola import: there is no folder ${folder}`);
  expect(await exportCommand([folder, '--engine', engine.url, '--admin-secret', 'wrong'])).toBe(1);
});

test('a metadata directory replaces the stored metadata at start, and a rollback restores the stored metadata', async () => {
  await track('author');
  await exportCommand([folder, ...flags()]);
  await engine.admin('pg_track_table', { table: 'book' });
  const before = await engine.admin<{ resource_version: number }>('export_metadata', {}, { version: 2 });
  const other = await startTestEngine({ databaseUrl: database.url, metadataDir: folder });
  expect(await trackedTables(other)).toEqual(['author']);
  const { body } = await other.admin<{ client: string }[]>('list_metadata_revisions', { limit: 1 });
  expect(body[0]?.client).toBe('pergola serve --metadata-dir');
  await other.admin('rollback_metadata', { resource_version: before.body.resource_version });
  expect(await trackedTables(other)).toEqual(['author', 'book']);
  await other.close();
});

test('an engine started with a directory equal to the stored metadata writes nothing', async () => {
  await track('author');
  await exportCommand([folder, ...flags()]);
  const versionOf = async (of: TestEngine) => {
    const config = (await (await of.fetch('/v1alpha1/config')).json()) as { resource_version: number };
    return config.resource_version;
  };
  const before = await versionOf(engine);
  const other = await startTestEngine({ databaseUrl: database.url, metadataDir: folder });
  expect(await versionOf(other)).toBe(before);
  await other.close();
});

test('an engine does not start with an inconsistent or unreadable directory, and stores nothing', async () => {
  await track('author');
  await exportCommand([folder, ...flags()]);
  const start = () => startTestEngine({ databaseUrl: database.url, metadataDir: folder });
  writeFileSync(join(folder, AUTHOR), 'table: nobody\n');
  await expect(start()).rejects.toThrow('the metadata does not fit:\n  table nobody in source default: ');
  rmSync(join(folder, AUTHOR));
  await expect(start()).rejects.toThrow(`there is no file ${AUTHOR} to include`);
  expect(await trackedTables()).toEqual(['author']);
});

/** The files of sources that the engine does not serve, as the command line of the reference names them. */
const FOREIGN = {
  'databases/legacy/tables/tables.yaml':
    '- "!include dbo_a.yaml"\n- "!include b.yaml"\n- "!include x_c.yaml"\n',
  'databases/legacy/tables/dbo_a.yaml':
    'table:\n  schema: dbo\n  name: a\nselect_permissions:\n  - role: user\n    permission:\n      columns: []\n      filter: {}\n      more: null\n',
  'databases/legacy/tables/b.yaml': 'table: b\n',
  'databases/legacy/tables/x_c.yaml': 'table:\n  - x\n  - c\n',
  'databases/legacy/functions/functions.yaml': '- "!include dbo_f.yaml"\n',
  'databases/legacy/functions/dbo_f.yaml': 'function:\n  schema: dbo\n  name: f\n',
  'databases/store/tables/tables.yaml': '- "!include data_b.yaml"\n',
  'databases/store/tables/data_b.yaml': 'table:\n  dataset: data\n  name: b\n',
};
const LISTED = `- name: legacy
  kind: mssql
  configuration:
    connection_info:
      connection_string:
        from_env: MSSQL
      pool_settings: null
  unknown:
    - 1
  tables: "!include legacy/tables/tables.yaml"
  functions: "!include legacy/functions/functions.yaml"
- name: store
  kind: bigquery
  configuration: {}
  tables: "!include store/tables/tables.yaml"
`;

const filesIn = (root: string) =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(root, path), readFileSync(path, 'utf8')]),
  );

test('sources of unsupported kinds are kept by import and start, and exported without a changed line', async () => {
  await track('author');
  await exportCommand([folder, ...flags()]);
  const file = join(folder, 'databases/databases.yaml');
  writeFileSync(file, readFileSync(file, 'utf8') + LISTED);
  for (const [name, text] of Object.entries(FOREIGN)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const given = filesIn(folder);
  const reason = 'source legacy: Inconsistent object: sources of the kind "mssql" are not supported';
  expect(await importCommand([folder, '--dry-run', ...flags()])).toBe(0);
  expect(output.text).toContain(reason);
  expect(await importCommand([folder, ...flags()])).toBe(0);
  const [again, started, copied] = ['again', 'started', 'copied'].map((name) => join(folder, '..', name));
  await exportCommand([again!, ...flags()]);
  expect(filesIn(again!)).toEqual(given);
  expect(await importCommand([folder, '-o', copied!, '--as', 'metadata'])).toBe(0);
  expect(filesIn(copied!)).toEqual(given);
  await engine.admin('clear_metadata', {});
  for (let i = 0; i < 2; i++) {
    const other = await startTestEngine({ databaseUrl: database.url, metadataDir: folder });
    expect(await trackedTables(other)).toEqual(['author']);
    const { body } = await other.admin('get_inconsistent_metadata', {});
    expect(body).toMatchObject({
      inconsistent_objects: [{ name: 'source legacy' }, { name: 'source store' }],
    });
    await exportCommand([started!, '--engine', other.url, '--admin-secret', other.adminSecret]);
    expect(filesIn(started!)).toEqual(given);
    await other.close();
  }
  expect(await importCommand([folder, '-o', join(folder, '../crs')])).toBe(0);
  expect(output.text).toContain('source legacy is left out: sources of the kind "mssql" are not supported');
});

test('import and start name keys and files that are left out', async () => {
  await track('author');
  await exportCommand([folder, ...flags()]);
  const file = join(folder, AUTHOR);
  writeFileSync(file, `${readFileSync(file, 'utf8')}more: 1\n`);
  const stray = AUTHOR.replace('author', 'stray');
  writeFileSync(join(folder, stray), 'table: { schema: public, name: stray }\n');
  // As in a mounted ConfigMap.
  mkdirSync(join(folder, '..data'));
  writeFileSync(join(folder, '..data/version.yaml'), 'version: 3\n');
  const texts = [
    `${AUTHOR}: $.more: the key is unknown and is left out`,
    `${stray}: no other file includes it, so it is left out`,
  ];
  expect(await importCommand([folder, ...flags()])).toBe(0);
  expect(output.text.split('\n').filter((line) => line.endsWith('left out'))).toEqual(texts);
  const observe = vi.fn();
  const log = { observe, flush: () => {} };
  const other = await startTestEngine({ databaseUrl: database.url, metadataDir: folder, log });
  for (const reason of texts) {
    const event = { kind: 'metadata key unknown', reason };
    expect(observe).toHaveBeenCalledWith(expect.objectContaining({ kind: 'state', event }));
  }
  await other.close();
});

test('another inconsistent object still hinders import and start', async () => {
  await exportCommand([folder, ...flags()]);
  const file = join(folder, 'databases/databases.yaml');
  writeFileSync(
    file,
    `${readFileSync(file, 'utf8')}- name: legacy\n  kind: mssql\n  configuration: {}\n  tables: []\n`,
  );
  writeFileSync(join(folder, 'databases/default/tables/tables.yaml'), '- table: nobody\n');
  expect(await importCommand([folder, ...flags()])).toBe(1);
  expect(output.text).toContain('It does not fit');
  const start = () => startTestEngine({ databaseUrl: database.url, metadataDir: folder });
  await expect(start()).rejects.toThrow('the metadata does not fit:\n  table nobody in source default: ');
  expect(await trackedTables()).toEqual([]);
});

describe('a repository of the reference', () => {
  test.each(Object.entries(REPOSITORIES))(
    '%s comes back from the commands without a changed line',
    async (_name, files) => {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      expect(await importCommand([folder, '--allow-inconsistent', ...flags()])).toBe(0);
      const again = join(folder, '../again');
      expect(await exportCommand([again, ...flags()])).toBe(0);
      expect(filesIn(again)).toEqual(files);
      expect(await exportCommand([folder, ...flags()])).toBe(0);
      expect(filesIn(folder)).toEqual(files);
    },
  );
});
