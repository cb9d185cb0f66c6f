/** Tests the commands plan, apply and watch with a real engine. */
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { runCommand } from '../../testing/output.ts';
import { testDatabase } from '../../testing/world.ts';
import { run as apply } from '../commands/apply.ts';
import { run as plan } from '../commands/plan.ts';
import { engineClient } from '../engine/client.ts';
import { systemClock } from '../pass/clock.ts';
import { reconcile } from '../pass/reconcile.ts';
import type { Report } from '../status/report.ts';
import { folderOptions } from './flags.ts';
import { FolderSource } from './folder-source.ts';
import { follow } from './follow.ts';
import { watchOutput } from './watch-output.ts';

const database = testDatabase();
let engine: TestEngine;
let folder: string;

beforeAll(async () => {
  await database.sql(`
    create table author (id int primary key, name text, born int, worth numeric not null default 12345678901234567891);
    insert into author values (1, 'Lem', 1921)`);
  engine = await startTestEngine({ databaseUrl: database.url });
});
afterAll(() => engine?.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pergola-folder-'));
  await write('table.yaml', TABLE);
  await write('reader.yaml', reader('name'));
});
afterEach(async () => {
  await engine.admin('clear_metadata', {});
  await engine.admin('set_catalog_state', { type: 'operator', state: {} });
  await rm(folder, { recursive: true });
});

const write = (file: string, text: string) => writeFile(join(folder, file), text);
const TABLE = `apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: author}
spec: {source: default, table: author}
`;
const reader = (columns: string) => `apiVersion: pergola.dev/v1alpha1
kind: TablePermission
metadata: {name: reader}
spec:
  source: default
  table: author
  role: reader
  select: {columns: [${columns}], filter: {}}
`;

const say = (command: typeof apply, ...flags: readonly string[]) =>
  runCommand(command, ['-f', folder, '--engine', engine.url, '--admin-secret', engine.adminSecret, ...flags]);
const asReader = (field: string) => engine.graphql(`{ author { ${field} } }`, { role: 'reader' });

test('plan prints what apply then does, and a plan after apply is empty', async () => {
  const planned = await say(plan);
  expect(planned).toEqual({
    code: 2,
    err: '',
    out: `Table default/author  table.yaml:1
  + table default/public/author
TablePermission default/reader  reader.yaml:1
  + select permission default/public/author/reader
      reader may select public.author: columns: name; filter: all rows
2 to create.
`,
  });
  expect((await asReader('name')).data).toBeUndefined();
  const applied = await say(apply);
  expect([applied.code, applied.out]).toEqual([
    0,
    'TablePermission default/reader  True    Applied  1 object applied\n' +
      'Table default/author            True    Applied  1 object applied\n',
  ]);
  expect(await asReader('name')).toEqual({ data: { author: [{ name: 'Lem' }] } });
  expect(await say(plan)).toEqual({ code: 0, out: 'No difference.\n', err: '' });
});

test('a plan lists changes by field, drift, and deletions', async () => {
  await say(apply);
  await write('reader.yaml', reader('name, born'));
  expect((await say(plan)).out).toContain(
    'permission.columns[]: + "born"\n      reader reaches more: columns: name → name, born\nschema of reader: 6 safe\n1 to change.',
  );
  await write('reader.yaml', reader('name'));
  await engine.admin('pg_set_table_customization', {
    table: 'author',
    configuration: { custom_name: 'Writer' },
  });
  expect((await say(plan)).out).toContain(
    '~ table default/public/author  (changed by hand)\n      configuration.custom_name: - "Writer"',
  );
  await rm(join(folder, 'reader.yaml'));
  expect((await say(plan)).out).toContain(
    '- select permission default/public/author/reader\n      reader may no longer select public.author',
  );
});

test('resources of a folder have no time of creation, and are in the order of their names', async () => {
  await say(apply);
  type Owned = { readonly resource: string; readonly created_at?: string };
  const { resources } = (await engine.admin<{ readonly resources: readonly Owned[] }>('get_ownership', {}))
    .body;
  expect(resources.map(({ created_at }) => created_at)).toEqual(resources.map(() => undefined));
  const names = resources.map(({ resource }) => resource);
  expect([names.length > 1, names]).toEqual([true, names.toSorted()]);
});

test('a plan lists paused resources, whose changes it leaves out', async () => {
  await say(apply);
  await write('reader.yaml', reader('name, born').replace('spec:', 'spec:\n  suspend: true'));
  expect(await say(plan)).toEqual({
    code: 0,
    out:
      '? TablePermission default/reader  Paused: spec.suspend is true: its objects are left as they are\n' +
      'Nothing to apply; 1 resource is paused.\n',
    err: '',
  });
  expect((await say(plan, '-o', 'markdown')).out).toContain(
    '**Left as it is**\n\n- TablePermission default/reader Paused: spec.suspend is true',
  );
});

test('numbers keep all digits of the file, and a plan after apply is empty', async () => {
  const worth = (amount: string) =>
    reader('name').replace('filter: {}', `filter: {worth: {_lte: ${amount}}}`);
  await write('reader.yaml', worth('12345678901234567890.0'));
  expect((await say(apply)).code).toBe(0);
  expect(await asReader('name')).toEqual({ data: { author: [] } });
  expect((await say(plan)).out).toBe('No difference.\n');
  await write('reader.yaml', worth('12345678901234567891'));
  expect((await say(plan)).out).toContain('worth._lte: 12345678901234567890.0 → 12345678901234567891');
  expect((await say(apply)).code).toBe(0);
  expect(await asReader('name')).toEqual({ data: { author: [{ name: 'Lem' }] } });
});

test('apply fails if a resource is not Ready, after it has applied all others', async () => {
  await write('bad.yaml', reader('name').replace('name: reader', 'name: bad').replace('filter', 'fliter'));
  const { code, out } = await say(apply);
  expect(code).toBe(1);
  expect(out).toMatch(
    /TablePermission default\/bad +False +InvalidSpec +spec\.select\.filter is required; spec\.select\.fliter is/,
  );
  expect((await asReader('name')).data).toBeDefined();
  expect((await say(plan)).code).toBe(1);
});

test('only the resources that use a variable the engine lacks report its name', async () => {
  await write(
    'trigger.yaml',
    `apiVersion: pergola.dev/v1alpha1
kind: EventTrigger
metadata: {name: told}
spec:
  source: default
  table: author
  name: told
  insert: {columns: [id]}
  webhook: {value: "http://127.0.0.1:9"}
  headers: [{name: authorization, env: MISSING_TOKEN}]
`,
  );
  await write(
    'action.yaml',
    `apiVersion: pergola.dev/v1alpha1
kind: Action
metadata: {name: act}
spec: {sdl: "type Query { act: String }", handler: {value: "http://{{MISSING_HOST}}/"}}
`,
  );
  const { code, out } = await say(apply);
  expect(code).toBe(1);
  expect(out).toMatch(/EventTrigger default\/told +False .*"MISSING_TOKEN" is not set/);
  expect(out).toMatch(/Action default\/act +False .*"MISSING_HOST" is not set/);
  expect(await asReader('name')).toEqual({ data: { author: [{ name: 'Lem' }] } });
});

test('a file with a syntax error is reported with its line, and the objects of its resources are kept', async () => {
  await say(apply);
  await write('reader.yaml', `${reader('name')}  oops: [\n`);
  const { code, err } = await say(apply);
  expect(code).toBe(1);
  expect(err).toMatch(/^reader\.yaml:\d+: /);
  expect((await asReader('name')).data).toBeDefined();
});

test('the option -o json prints plans and results as JSON', async () => {
  const planned = JSON.parse((await say(plan, '-o', 'json')).out);
  expect(planned.changes.map((c: { action: string; key: string }) => [c.action, c.key])).toEqual([
    ['create', 'table/default/public/author'],
    ['create', 'select_permission/default/public/author/reader'],
  ]);
  const applied = JSON.parse((await say(apply, '-o', 'json')).out);
  expect(applied).toMatchObject({
    wasWritten: true,
    resources: [
      { kind: 'TablePermission', namespace: 'default', name: 'reader', ready: 'True', reason: 'Applied' },
      { kind: 'Table', ready: 'True', status: { observedGeneration: 1 } },
    ],
  });
});

test('an unreachable engine, a wrong secret and an unknown flag are reported', async () => {
  expect(await say(plan, '--engine', 'http://127.0.0.1:9')).toMatchObject({
    code: 1,
    err: expect.stringContaining('http://127.0.0.1:9 does not answer'),
  });
  // Not once for each resource.
  const refused = await say(apply, '--admin-secret', 'wrong');
  expect([refused.code, refused.out]).toEqual([1, '']);
  expect(refused.err.split('does not accept the admin secret')).toHaveLength(2);
  expect(refused.err).toContain('Give the secret with --admin-secret');
  expect(await say(plan, '--nonsense')).toMatchObject({
    code: 1,
    err: expect.stringContaining('--nonsense'),
  });
});

test('an Engine document in the folder sets the policies', async () => {
  await write(
    'engine.yaml',
    'apiVersion: pergola.dev/v1alpha1\nkind: Engine\nmetadata: {name: main}\nspec: {policies: {drift: Report}}\n',
  );
  await say(apply);
  await engine.admin('pg_set_table_customization', {
    table: 'author',
    configuration: { custom_name: 'Writer' },
  });
  const { code, out } = await say(apply);
  expect(code).toBe(0);
  expect(out).toContain(
    'drift is left: table default/public/author was changed: configuration.custom_name: + "Writer"',
  );
});

test('the value of a Secret in the folder is written to the metadata only when that is allowed', async () => {
  const secretUrl = new URL(database.url);
  await write(
    'source.yaml',
    `apiVersion: pergola.dev/v1alpha1
kind: Source
metadata: {name: other}
spec: {name: other, connection: {url: {secretKeyRef: {name: db, key: uri}}}, deletionPolicy: Delete}
---
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {uri: "${secretUrl.href}"}
`,
  );
  const planned = await say(plan);
  expect(planned.out).toContain('+ source other');
  expect(JSON.stringify(planned)).not.toContain(secretUrl.href);
  const applied = await say(apply);
  expect([applied.code, applied.out]).toEqual([0, expect.any(String)]);
  expect(JSON.stringify(applied)).not.toContain(secretUrl.href);
  const exported = JSON.stringify(await engine.admin('export_metadata', {}));
  expect(exported).toContain('from_value');
  expect(exported).not.toContain(secretUrl.href);
});

test('the resources of broken files count as not Ready, and those of other files are applied', async () => {
  await write('broken.yaml', 'kind: [\n');
  const named = (name: string) => TABLE.replace('author}', `${name}}`);
  await write('three.yaml', [named('a'), named('b'), TABLE.replace('Table', 'Tabel')].join('---\n'));
  const source = new FolderSource(folder);
  const written: string[] = [];
  const output = watchOutput(source, (text) => written.push(text));
  const pass = async () => {
    const client = engineClient({ url: engine.url, adminSecret: engine.adminSecret });
    const ports = { engine: client, source, sink: source, clock: systemClock };
    output(await reconcile(ports, folderOptions(source)));
    return stripVTControlCharacters(written.splice(0).join(''));
  };
  const first = await pass();
  expect(first).toMatch(/^broken\.yaml:\d+: .*\nthree\.yaml:\d+: /);
  expect(first).toContain(
    'broken.yaml: its 1 resource is not applied; the engine keeps serving what it has of the file.\n' +
      'three.yaml: its 3 resources are not applied; the engine keeps serving what it has of the file.\n',
  );
  expect(first).toContain('2 of 6 resources are Ready; 4 are in files with a problem\n');
  expect((await asReader('name')).data).toBeDefined();
  await rm(join(folder, 'three.yaml'));
  expect(await pass()).toContain('2 of 3 resources are Ready; 1 is in a file with a problem\n');
  await rm(join(folder, 'broken.yaml'));
  expect(await pass()).toContain('2 of 2 resources are Ready\n');
});

test.each([
  ['a YAML text', 'yaml', (name: string) => TABLE.replace('author}', `${name}}`), '\n---\n', '\nspec: [\n'],
  [
    'JSON',
    'json',
    (name: string) =>
      `{"apiVersion": "pergola.dev/v1alpha1",\n"kind": "Table", "metadata": {"name": "${name}"}, "spec": {}}`,
    ',\n',
    '',
  ],
] as const)(
  'a file of %s that cannot be parsed any more says how many resources it had',
  async (_, extension, one, separator, end) => {
    const names = ['a', 'b', 'c', 'd'];
    const text = names.map(one).join(separator);
    await write(
      `four.${extension}`,
      extension === 'json' ? `{"kind": "List", "items": [\n${text}\n` : text + end,
    );
    const source = new FolderSource(folder);
    await source.snapshot();
    expect(source.problems).toHaveLength(1);
    expect(source.unread.get(`four.${extension}`)).toBe(names.length);
  },
);

/** Runs the loop of `watch` and `up` during `body`. */
async function following(body: (reports: Report[]) => Promise<void>): Promise<void> {
  const source = new FolderSource(folder);
  const stop = new AbortController();
  const reports: Report[] = [];
  const client = engineClient({ url: engine.url, adminSecret: engine.adminSecret });
  const loop = follow(
    { engine: client, source, sink: source, clock: systemClock },
    {
      inputs: [folder],
      options: () => folderOptions(source),
      signal: stop.signal,
      onReport: (report) => reports.push(report),
      onError: (error) => expect.fail(error.message),
    },
  );
  try {
    await until(async () => reports.length > 0);
    await body(reports);
  } finally {
    stop.abort();
    await loop;
  }
}

/** Returns the milliseconds until the condition holds; fails after five seconds. */
async function until(holds: () => Promise<boolean>): Promise<number> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > 5000) expect.fail('it did not come about within five seconds');
    await sleep(20);
  }
  return performance.now() - started;
}

const canRead = async (field: string) => (await asReader(field)).data !== undefined;

test('an edited file changes the API within two seconds, whatever way the editor saves it', async () => {
  await following(async (reports) => {
    expect(await canRead('born')).toBe(false);
    await write('reader.yaml', reader('name, born'));
    expect(await until(() => canRead('born'))).toBeLessThan(2000);
    await write('reader.yaml~', reader('id'));
    await rename(join(folder, 'reader.yaml~'), join(folder, 'reader.yaml'));
    expect(await until(async () => !(await canRead('born')) && (await canRead('id')))).toBeLessThan(2000);
    await rm(join(folder, 'reader.yaml'));
    expect(await until(async () => !(await canRead('id')))).toBeLessThan(2000);
    expect(reports.length).toBeLessThan(8);
  });
});

test('an incomplete edit changes nothing, and the completed edit is applied', async () => {
  await following(async (reports) => {
    const text = await readFile(join(folder, 'reader.yaml'), 'utf8');
    const { length } = reports;
    await write('reader.yaml', text.slice(0, -20));
    await until(async () => reports.length > length);
    expect(await canRead('name')).toBe(true);
    await write('reader.yaml', reader('name, born'));
    expect(await until(() => canRead('born'))).toBeLessThan(2000);
  });
});

test('changes by hand are corrected, and an idle loop writes nothing', async () => {
  await following(async (reports) => {
    const writing = () => reports.filter(({ wasWritten }) => wasWritten);
    const { length } = writing();
    await engine.admin('pg_drop_select_permission', { table: 'author', role: 'reader' });
    expect(await canRead('name')).toBe(false);
    await until(() => canRead('name'));
    await until(async () => writing().length > length);
    await sleep(2500);
    expect(writing()).toHaveLength(length + 1);
  });
});
