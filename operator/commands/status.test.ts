/** Tests `pergola status` with a real engine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { runCommand } from '../../testing/output.ts';
import { testDatabase } from '../../testing/world.ts';
import { run as apply } from './apply.ts';
import { run as status } from './status.ts';

const database = testDatabase();
let engine: TestEngine;
let folder: string;

beforeAll(async () => {
  await database.sql('create table note (id int primary key, text text)');
  engine = await startTestEngine({ databaseUrl: database.url });
  folder = await mkdtemp(join(tmpdir(), 'pergola-status-'));
  await writeFile(
    join(folder, 'note.yaml'),
    `apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: { name: note }
spec:
  table: note
  permissions: [{ role: reader, select: { columns: [id, text], filter: {} } }]
`,
  );
});
afterAll(async () => {
  await engine?.close();
  await rm(folder, { recursive: true });
});

const say = (command: typeof status, ...argv: readonly string[]) =>
  runCommand(command, ['--engine', engine.url, '--admin-secret', engine.adminSecret, ...argv]);

test('an engine without problems, then a column that is gone, with its resource and what to do', async () => {
  expect((await say(apply, '-f', folder)).code).toBe(0);
  const fine = await say(status);
  expect([fine.code, fine.err]).toEqual([0, '']);
  expect(fine.out).toMatch(
    /^http.*metadata version \d+, 2 objects belong to resources\n\nNothing is wrong in the engine\. Files are checked by pergola validate -f FOLDER\.\n$/,
  );

  await database.sql('alter table note drop column text');
  await engine.admin('reload_metadata', {});
  const broken = await say(status);
  expect([broken.code, broken.err]).toEqual([1, '']);
  expect(broken.out).toContain(
    '\n\nDependencyNotReady\n  ! select permission default/public/note/reader at permission.columns[1]: ',
  );
  expect(broken.out).toMatch(
    /\(Table default\/note\)\n {2}→ Column "text": if it was renamed, write its new name .*; if it was dropped, remove it .*\n\n1 problem\.\n$/,
  );

  const json = await say(status, '-o', 'json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({
    engine: engine.url,
    ownedObjects: 2,
    findings: [
      {
        key: 'select_permission/default/public/note/reader',
        reason: 'DependencyNotReady',
        resource: 'Table default/note',
      },
    ],
  });
  expect(load((await say(status, '-o', 'yaml')).out)).toEqual(JSON.parse(json.out));
});

test('a renamed column, a dropped table and a new one say what to do', async () => {
  await database.sql(
    'alter table note add column texts text; create table extra (id int primary key); create table part (id int primary key)',
  );
  await writeFile(
    join(folder, 'part.yaml'),
    'apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata: { name: part }\nspec: { table: part }\n',
  );
  await engine.admin('reload_metadata', {});
  await say(apply, '-f', folder);
  await database.sql('drop table part');
  await engine.admin('reload_metadata', {});
  const { out } = await say(status);
  expect(out).toMatch(
    /column "text" does not exist; the nearest name is "texts" .*\n {2}→ Column "text": if it is now "texts", write that /,
  );
  expect(out).toMatch(
    /→ Table "part": if .*; if it was dropped, delete its Table, permissions and relationships; else create it\./,
  );
  expect(out).toContain('Not in the API: default/public/extra. A Table adds a table;');
  expect(JSON.parse((await say(status, '-o', 'json')).out).untrackedTables).toEqual(['default/public/extra']);
  await rm(join(folder, 'part.yaml'));
  await say(apply, '-f', folder, '--prune');
});

test('a source that does not answer is before what waits for it', async () => {
  await engine.admin('replace_metadata', {
    allow_inconsistent_metadata: true,
    metadata: {
      version: 3,
      sources: [
        {
          name: 'away',
          kind: 'postgres',
          tables: [{ table: 'there' }],
          configuration: { connection_info: { database_url: 'postgres://nobody@127.0.0.1:1/none' } },
        },
      ],
    },
  });
  const { code, out } = await say(status, '-o', 'json');
  expect(code).toBe(1);
  const { findings } = JSON.parse(out) as { findings: { key: string; reason: string }[] };
  expect(findings[0]).toMatchObject({ key: 'source/away', reason: 'SourceUnavailable' });
  expect(new Set(findings.map(({ reason }) => reason))).toEqual(new Set(['SourceUnavailable']));
  expect(out).not.toContain('nobody@');
});

test.each([
  [['-f', 'folder'], 2, 'there is no flag -f'],
  [['-o', 'markdown'], 2, '-o markdown is not supported; use text, json, yaml'],
  [['--admin-secret', 'wrong'], 1, 'does not accept the admin secret'],
  [['--engine', 'http://127.0.0.1:2'], 1, 'the engine at http://127.0.0.1:2 does not answer'],
])('%j', async (argv, code, message) => {
  expect(await say(status, ...argv)).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
});
