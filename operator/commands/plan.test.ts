/** Tests the inputs, formats and exit codes of `pergola plan` with a real engine. Not here: what a plan contains (folder/folder.test.ts). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { runCommand } from '../../testing/output.ts';
import { testDatabase, testWorld } from '../../testing/world.ts';
import { run as apply } from './apply.ts';
import { run as plan } from './plan.ts';
import { run as watch } from './watch.ts';

let folder: string;

afterAll(() => rm(folder, { recursive: true }));

const { database, engine } = testWorld('create table note (id int primary key, owner text, text text)');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pergola-plan-'));
  await mkdir(join(folder, 'all'));
  await write('all/note.yaml', TABLE);
  await write('all/reader.yaml', reader(OWN));
  expect((await say(apply, '-f', at('all'))).code).toBe(0);
});

const at = (name: string) => join(folder, name);
const write = (name: string, text: string) => writeFile(at(name), text);

const TABLE = `apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: note}
spec: {table: note}
`;
const OWN = '{owner: {_eq: X-Engine-User-Id}}';
const reader = (filter: string, columns = 'id') => `apiVersion: pergola.dev/v1alpha1
kind: TablePermission
metadata: {name: reader}
spec:
  table: note
  role: reader
  select: {columns: [${columns}], filter: ${filter}}
`;

const engineWith = (pruneGuard: string) => `apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main}
spec: {policies: {pruneGuard: ${pruneGuard}}}
`;

const say = (command: typeof plan, ...argv: readonly string[]) =>
  runCommand(command, ['--engine', engine.url, '--admin-secret', engine.adminSecret, ...argv]);

describe('inputs', () => {
  test('files, a folder, and a folder with a file are the same resources', async () => {
    await write('reader.yaml', reader(OWN));
    expect(await say(plan, '-f', at('all'))).toEqual({ code: 0, out: 'No difference.\n', err: '' });
    expect(await say(plan, '-f', at('all/note.yaml'), '-f', at('reader.yaml'))).toMatchObject({ code: 0 });
    const alone = await say(plan, '-f', at('all/note.yaml'));
    expect(alone).toMatchObject({
      code: 2,
      out: expect.stringContaining('- select permission default/public/note/reader'),
    });
  });

  test('a resource that two inputs have is named with both positions', async () => {
    await write('reader.yaml', reader(OWN));
    const { code, out, err } = await say(plan, '-f', at('all'), '-f', at('reader.yaml'));
    expect(code).toBe(1);
    expect(err).toContain(
      `${at('reader.yaml')}:1: TablePermission default/reader is at ${at('all/reader.yaml')}:1`,
    );
    expect(out).toBe('Nothing to apply; 1 problem in files, whose resources are kept.\n');
  });

  test('standard input is one of them', async () => {
    const address = ['--engine', engine.url, '--admin-secret', engine.adminSecret];
    const argv = ['bin/pergola.mjs', 'plan', ...address, '-f', '-', '-f', at('all/note.yaml')];
    const child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(reader('{}'));
    const [out, [code]] = await Promise.all([textOf(child.stdout), once(child, 'close')]);
    expect([code, stripVTControlCharacters(out)]).toEqual([
      2,
      expect.stringContaining('TablePermission default/reader  stdin:1\n'),
    ]);
  });

  test.each([
    ['nothing', ''],
    ['a message', 'Error: no such file\n'],
    ['other resources', 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n'],
  ])('standard input with %s is a problem, and deletes nothing', async (_, text) => {
    const address = ['--engine', engine.url, '--admin-secret', engine.adminSecret];
    for (const command of ['plan', 'apply']) {
      const argv = ['bin/pergola.mjs', command, ...address, '-f', '-'];
      const child = spawn(process.execPath, argv, { stdio: 'pipe' });
      child.stdin.end(text);
      const [out, err, [code]] = await Promise.all([
        textOf(child.stdout),
        textOf(child.stderr),
        once(child, 'close'),
      ]);
      expect(code).toBe(1);
      expect(stripVTControlCharacters(err)).toMatch(
        /^stdin:1: standard input has no resource of pergola\.dev\/v1alpha1; check the command before the pipe/,
      );
      expect(out).not.toContain('held back');
      if (command === 'plan')
        expect(out).toBe('Nothing to apply; 1 problem in files, whose resources are kept.\n');
    }
    expect(await say(plan, '-f', at('all'))).toMatchObject({ code: 0 });
  });

  test('a file without a resource is a problem, and deletes nothing', async () => {
    await write('schema.sql', 'create table note (id int primary key);\n');
    const position = `${at('schema.sql')}:1`;
    for (const [command, ...more] of [[plan], [apply], [plan, '-f', at('all')]] as const) {
      const { code, out, err } = await say(command, '-f', at('schema.sql'), ...more);
      expect([code, out]).toEqual([1, expect.not.stringContaining('delete')]);
      expect(err).toContain(
        `${position}: the file has no resource of pergola.dev/v1alpha1; check its name, or give an empty folder to delete everything`,
      );
    }
    expect(await say(plan, '-f', at('all'))).toMatchObject({ code: 0 });
  });

  test('an input that does not exist', async () => {
    const { code, out, err } = await say(plan, '-f', at('nowhere'));
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`there is no file or folder ${at('nowhere')}`);
  });
});

describe('wrong flags', () => {
  const CASES: readonly (readonly [readonly string[], string])[] = [
    [[], 'no resources are given: -f FOLDER, -f FILE, or -f -'],
    [['-f', ''], 'no resources are given: -f FOLDER, -f FILE, or -f -'],
    [['-f', '.', '-o', 'xml'], '-o xml is not supported; use text, json, yaml, markdown'],
    [
      ['-f', '.', '--fail-on', 'all'],
      '--fail-on all is not supported; use widened, granted, breaking, breaking-in-use',
    ],
    [
      ['-f', '.', '--engine', 'localhost:8080'],
      '--engine localhost:8080 is not a URL; write it as http://HOST:PORT',
    ],
    [['-f', '.', '--nope'], 'there is no flag --nope'],
    [['resources'], 'resources is no flag; for a folder or a file write -f resources'],
  ];

  test.each(CASES)('%j: exit 1, because 2 means changes', async (argv, message) => {
    const { code, out, err } = await say(plan, ...argv);
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe(`pergola plan: ${message}\nSee: pergola plan --help\n`);
  });

  test('apply and watch have no levels, and watch no standard input: exit 2', async () => {
    for (const command of [apply, watch]) {
      expect(await say(command, '-f', at('all'), '--fail-on', 'widened')).toMatchObject({
        code: 2,
        err: expect.stringContaining('there is no flag --fail-on'),
      });
    }
    expect(await say(watch, '-f', at('all'), '-o', 'markdown')).toMatchObject({
      code: 2,
      err: expect.stringContaining('-o markdown is not supported; use text'),
    });
    expect(await say(watch, '-f', '-')).toMatchObject({
      code: 2,
      err: expect.stringContaining('standard input does not change'),
    });
  });

  test('the help names inputs, formats, levels and exit codes', async () => {
    const { code, out } = await say(plan, '--help');
    expect(code).toBe(0);
    for (const text of [
      '-f, --filename PATH',
      'text, json, yaml, markdown',
      'widened',
      'granted',
      '0 no changes, 2 changes, 1',
    ]) {
      expect(out).toContain(text);
    }
    expect((await say(apply, '--help')).out).not.toContain('--fail-on');
  });
});

describe('a filter that is widened', () => {
  const wide = () => write('reader.yaml', reader('{}'));
  const argv = () => ['-f', at('all/note.yaml'), '-f', at('reader.yaml')];

  test('is a change, and refused by --fail-on widened', async () => {
    await wide();
    expect(await say(plan, ...argv())).toMatchObject({ code: 2, err: '' });
    const { code, out, err } = await say(plan, ...argv(), '--fail-on', 'widened');
    expect(code).toBe(1);
    expect(out).toContain(
      'reader reaches more: filter: owner is X-Engine-User-Id → all rows\n1 to change.\n',
    );
    expect(err).toBe(
      `refused by --fail-on widened: TablePermission default/reader (${at('reader.yaml')}:1): reader reaches more of public.note (select): filter: owner is X-Engine-User-Id → all rows\n`,
    );
  });

  test('a column more passes --fail-on widened, not --fail-on granted', async () => {
    await write('reader.yaml', reader(OWN, 'id, text'));
    expect(await say(plan, ...argv(), '--fail-on', 'widened')).toMatchObject({ code: 2, err: '' });
    expect(await say(plan, ...argv(), '--fail-on', 'granted')).toMatchObject({ code: 1 });
  });

  test('a column less breaks clients: refused by --fail-on breaking', async () => {
    await write('reader.yaml', reader('{}', 'text'));
    const { code, out, err } = await say(plan, ...argv(), '--fail-on', 'breaking', '--fail-on', 'granted');
    expect(code).toBe(1);
    expect(out).toMatch(/schema of reader: \d+ breaking, \d+ safe\n {2}breaking: /);
    expect(err).toMatch(
      /^refused by --fail-on granted: TablePermission .*\nrefused by --fail-on breaking: the schema of reader: /,
    );
    await write('reader.yaml', reader(OWN, 'id, text'));
    expect(await say(plan, ...argv(), '--fail-on', 'breaking')).toMatchObject({ code: 2, err: '' });
  });

  test('JSON and YAML have the same content, with what is refused', async () => {
    await wide();
    const json = await say(plan, ...argv(), '--fail-on', 'widened', '-o', 'json');
    const yaml = await say(plan, ...argv(), '--fail-on', 'widened', '-o', 'yaml');
    expect([json.code, json.err, yaml.code, yaml.err]).toEqual([1, '', 1, '']);
    expect(load(yaml.out)).toEqual(JSON.parse(json.out));
    expect(JSON.parse(json.out)).toMatchObject({
      changes: [{ action: 'update', access: { role: 'reader', verdict: 'wider' } }],
      refused: [{ resource: 'TablePermission default/reader' }],
    });
  });

  test('Markdown says the effect before the differences', async () => {
    await wide();
    const { out } = await say(plan, ...argv(), '--fail-on', 'widened', '-o', 'markdown');
    expect(out).toBe(`### Pergola plan

1 to change.

**Refused by --fail-on widened**

- TablePermission default/reader \\(${at('reader.yaml')}:1\\): reader reaches more of public.note \\(select\\): filter: owner is X-Engine-User-Id → all rows

<details><summary>Every difference</summary>

\`\`\`diff
# TablePermission default/reader
~ select permission default/public/note/reader
    permission.filter.owner._eq: - "X-Engine-User-Id"
    reader reaches more: filter: owner is X-Engine-User-Id → all rows
\`\`\`

</details>
`);
  });

  test('text of a resource is no markup, mention or link in Markdown', async () => {
    const hostile = '"</details> @team #1 [x](http://evil) `code` ``` |"';
    await write('reader.yaml', reader(`{owner: {_eq: ${hostile}}}`));
    const { out } = await say(plan, ...argv(), '-o', 'markdown');
    const summary = out.slice(0, out.indexOf('<details>'));
    expect(summary).toContain('reader reaches something else');
    for (const text of ['</details>', '@team', '#1', '[x]', '://', ' `code`'])
      expect(summary).not.toContain(text);
    // The block is fenced with more backticks than the text has in a row.
    expect(out).toContain('\n````diff\n');
  });
});

describe('access that no permission says', () => {
  const COLLECTION = (queries: string) => `apiVersion: pergola.dev/v1alpha1
kind: QueryCollection
metadata: {name: common}
spec: {name: common, allowlist: {}, queries: [${queries}]}
`;
  const NOTES = '{name: notes, query: "query Notes { note { id } }"}';
  const ENDPOINT = `apiVersion: pergola.dev/v1alpha1
kind: RestEndpoint
metadata: {name: notes}
spec: {name: notes, url: notes, methods: [GET], query: {collection: common, name: notes}}
`;
  const argv = () => ['-f', at('all'), '-f', at('common.yaml'), '-f', at('endpoint.yaml')];
  const own = testDatabase();
  let enforcing: TestEngine;
  const sayTo = (command: typeof plan, ...given: readonly string[]) =>
    runCommand(command, ['--engine', enforcing.url, '--admin-secret', enforcing.adminSecret, ...given]);
  const requestNotes = async () =>
    (
      await fetch(`${enforcing.url}/api/rest/notes`, {
        headers: { 'x-engine-admin-secret': enforcing.adminSecret },
      })
    ).status;

  beforeAll(async () => {
    await own.sql('create table note (id int primary key, owner text, text text)');
    enforcing = await startTestEngine({ databaseUrl: own.url, enableAllowlist: true });
  });
  afterAll(() => enforcing?.close());

  test('an endpoint and allowed queries are gained: refused as granted, in every format', async () => {
    await write('common.yaml', COLLECTION(NOTES));
    await write('endpoint.yaml', ENDPOINT);
    expect(await sayTo(apply, '-f', at('all'))).toMatchObject({ code: 0 });
    const { code, out, err } = await sayTo(plan, ...argv(), '--fail-on', 'breaking', '--fail-on', 'granted');
    expect(code).toBe(1);
    expect(out).toContain(
      '\nevery role may run the query common.notes\nevery role may request the endpoint notes\n',
    );
    expect(err).toBe(
      `refused by --fail-on granted: QueryCollection default/common (${at('common.yaml')}:1): every role may run the query common.notes\n` +
        `refused by --fail-on granted: RestEndpoint default/notes (${at('endpoint.yaml')}:1): every role may request the endpoint notes\n`,
    );
    expect(await sayTo(plan, ...argv(), '--fail-on', 'breaking', '--fail-on', 'widened')).toMatchObject({
      code: 2,
      err: '',
    });
    const json = JSON.parse((await sayTo(plan, ...argv(), '-o', 'json')).out);
    expect(json.access).toMatchObject([
      { operation: 'run', role: null, on: 'common.notes', change: 'granted' },
      { operation: 'request', role: null, on: 'notes', change: 'granted' },
    ]);
    expect((await sayTo(plan, ...argv(), '-o', 'markdown')).out).toContain(
      '**Access**\n\n- every role may run the query common.notes\n- every role may request the endpoint notes\n',
    );
  });

  test('what is gone or changes breaks clients', async () => {
    expect(await sayTo(apply, ...argv())).toMatchObject({ code: 0 });
    expect(await requestNotes()).toBe(200);
    await write('common.yaml', COLLECTION('{name: notes, query: "query Notes { note { owner } }"}'));
    const changed = await sayTo(plan, ...argv(), '--fail-on', 'breaking');
    expect(changed.err).toContain(
      'the query common.notes changes for every role: query: query Notes{note{id}} → query Notes{note{owner}}',
    );
    expect(changed.err).toContain(
      'refused by --fail-on breaking: the endpoint notes changes for every role: query: ',
    );
    await write('common.yaml', COLLECTION(NOTES));
    const gone = ['-f', at('all'), '-f', at('common.yaml')];
    const { code, err } = await sayTo(plan, ...gone, '--fail-on', 'granted', '--fail-on', 'breaking');
    expect([code, err]).toEqual([
      1,
      'refused by --fail-on breaking: RestEndpoint default/notes: no role may request the endpoint notes any more\n',
    ]);
    // What is compared is what the engine serves.
    expect(await sayTo(apply, ...gone, '--prune')).toMatchObject({ code: 0 });
    expect(await requestNotes()).toBe(404);
  });
});

describe('an Engine document that holds back breaking changes', () => {
  const HOLDING = `apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main}
spec: {policies: {holdBack: [Breaking]}}
`;
  const argv = () => ['-f', at('all/note.yaml'), '-f', at('reader.yaml'), '-f', at('holding.yaml')];
  const isServed = async (field: string) =>
    (await engine.graphql(`{ note { ${field} } }`, { role: 'reader', headers: { 'x-engine-user-id': 'u' } }))
      .errors === undefined;

  test('plan and apply hold back the change and exit with 1, and the confirmation applies it', async () => {
    await write('holding.yaml', HOLDING);
    await write('reader.yaml', reader(OWN, 'id, text'));
    expect(await say(apply, ...argv())).toMatchObject({ code: 0 });
    await write('reader.yaml', reader(OWN));
    const planned = await say(plan, ...argv());
    expect(planned.code).toBe(1);
    expect(planned.out).toContain('TablePermission default/reader (held back)');
    expect(planned.out).toContain('permission.columns[]: - "text"');
    expect(planned.out).toContain('Field note.text was removed');
    expect(planned.out).toMatch(/\nNothing to apply; 1 held back; 1 resource has a problem\.\n$/);
    const { heldBack } = JSON.parse((await say(plan, ...argv(), '-o', 'json')).out);
    expect(heldBack).toMatchObject([
      { resource: 'TablePermission default/reader', changes: [{ action: 'update' }] },
    ]);
    expect(planned.out).toContain(`pergola.dev/confirm-change: ${heldBack[0].hash}`);
    const applied = await say(apply, ...argv());
    expect(applied.code).toBe(1);
    expect(applied.out).toContain('False   ChangeHeldBack');
    expect(await isServed('text')).toBe(true);
    expect(await say(plan, ...argv(), '--confirm-change', heldBack[0].hash)).toMatchObject({ code: 2 });
    expect(await say(apply, ...argv(), '--confirm-change', heldBack[0].hash)).toMatchObject({ code: 0 });
    expect(await isServed('text')).toBe(false);
  });

  test('a deletion is confirmed by the annotation of the Engine document', async () => {
    const alone = ['-f', at('all/note.yaml'), '-f', at('holding.yaml')];
    const planned = await say(plan, ...alone);
    expect(planned.code).toBe(1);
    expect(planned.out).toContain('! TablePermission default/reader is deleted: the change is held back');
    const [, hash] = /confirm-change: ([0-9a-f]+)/.exec(planned.out)!;
    const { code, err } = await say(apply, ...alone, '--prune');
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('ChangeHeldBack: TablePermission default/reader'),
    ]);
    expect(await isServed('id')).toBe(true);
    const annotated = HOLDING.replace(
      'name: main',
      `name: main, annotations: {pergola.dev/confirm-change: ${hash}}`,
    );
    await write('holding.yaml', annotated);
    expect(await say(apply, ...alone, '--prune')).toMatchObject({ code: 0 });
    expect(await isServed('id')).toBe(false);
    expect(await say(apply, '-f', at('all'))).toMatchObject({ code: 0 });
  });

  test('with Widened, plan and apply hold back a change that reaches more rows, until it is confirmed', async () => {
    const noteOf = async () => {
      const headers = { 'x-engine-user-id': 'u' };
      const { data } = await engine.graphql<{ note: unknown[] }>('{ note { id } }', {
        role: 'reader',
        headers,
      });
      return data?.note.length;
    };
    await database.sql("insert into note values (901, 'u', 'mine'), (902, 'another', 'theirs')");
    await write('holding.yaml', HOLDING.replace('[Breaking]', '[Breaking, Widened]'));
    await write('reader.yaml', reader(OWN));
    expect(await say(apply, ...argv())).toMatchObject({ code: 0 });
    expect(await noteOf()).toBe(1);
    await write('reader.yaml', reader('{}'));
    const planned = await say(plan, ...argv());
    expect(planned.code).toBe(1);
    expect(planned.out).toContain(
      'it would let role reader reach more rows of public.note: filter: owner is',
    );
    expect(planned.out).not.toContain('break clients');
    const [, hash] = /confirm-change: ([0-9a-f]+)/.exec(planned.out)!;
    const applied = await say(apply, ...argv());
    expect([applied.code, applied.out]).toEqual([1, expect.stringContaining('False   ChangeHeldBack')]);
    expect(await noteOf()).toBe(1);
    expect(await say(apply, ...argv(), '--confirm-change', hash!)).toMatchObject({ code: 0 });
    expect(await noteOf()).toBe(2);
    await database.sql('delete from note where id > 900');
    expect(await say(apply, '-f', at('all'))).toMatchObject({ code: 0 });
  });

  test('a policy with a wrong value holds back all the same', async () => {
    await write('reader.yaml', reader(OWN, 'id, text'));
    await write('holding.yaml', HOLDING);
    expect(await say(apply, ...argv())).toMatchObject({ code: 0 });
    await write('holding.yaml', HOLDING.replace('[Breaking]', '[breaking]'));
    await write('reader.yaml', reader(OWN));
    expect(await say(apply, ...argv())).toMatchObject({ code: 1 });
    expect(await isServed('text')).toBe(true);
    expect(await say(apply, '-f', at('all'))).toMatchObject({ code: 0 });
  });
});

test('deletions that are held back are listed', async () => {
  await write('guard.yaml', engineWith('{maxObjects: 1, maxPercent: 10}'));
  const { code, out } = await say(plan, '-f', at('guard.yaml'));
  expect(code).toBe(2);
  expect(out.replace(/[0-9a-f]{8,}/, 'HASH')).toBe(`! held back: - table default/public/note
! held back: - select permission default/public/note/reader
! 2 of 2 objects of default would be deleted at once; to confirm: --confirm-prune HASH
Nothing to apply; 2 held back.
`);
});

test('an Engine document with a problem deletes nothing, because it may say how much may be deleted', async () => {
  await write('guard.yaml', engineWith('{maxObjekts: 1}'));
  const { code, out, err } = await say(plan, '-f', at('guard.yaml'));
  expect([code, out]).toEqual([1, 'Nothing to apply; 1 problem in files, whose resources are kept.\n']);
  expect(err).toContain('maxObjekts');
});

describe('named values', () => {
  const PLANTED = 'planted5ecret';
  const triggered = (secret: string, text: string) => `apiVersion: pergola.dev/v1alpha1
kind: CronTrigger
metadata: {name: nightly}
spec: {name: nightly, schedule: "0 0 1 1 *", webhook: {secretKeyRef: {name: ${secret}, key: url}}}
---
apiVersion: v1
kind: Secret
metadata: {name: ${secret}}
stringData: {url: "http://127.0.0.1:9/${PLANTED}-${text}"}
`;
  const lineOf = (out: string, sign: string) =>
    out.split('\n').filter((line) => line.startsWith(`${sign} named value `));

  test('that would be sent, changed or removed are listed by name, in every format, and count as changes', async () => {
    const outputs: string[] = [];
    const planned = async (...flags: readonly string[]) => {
      const { code, out, err } = await say(plan, '-f', at('all'), ...flags);
      outputs.push(out, err);
      return { code, out };
    };
    const applied = async () => outputs.push(JSON.stringify(await say(apply, '-f', at('all'), '--prune')));
    await write('all/nightly.yaml', triggered('hook', 'one'));
    const added = await planned();
    expect(added.code).toBe(2);
    expect(lineOf(added.out, '+')).toEqual([
      expect.stringMatching(/^\+ named value default\/[0-9a-f]{12}\/hook\/url$/),
    ]);
    expect(added.out).toContain('1 to create, 1 named value to send.');
    await applied();
    expect(await planned()).toEqual({ code: 0, out: 'No difference.\n' });

    await write('all/nightly.yaml', triggered('hook', 'two'));
    const changed = await planned();
    expect(changed).toEqual({
      code: 2,
      out: expect.stringMatching(
        /^~ named value default\/[0-9a-f]{12}\/hook\/url\n1 named value to send\.\n$/,
      ),
    });
    const name = /named value (\S+)/.exec(changed.out)![1];
    for (const output of ['json', 'yaml'])
      expect(load((await planned('-o', output)).out)).toMatchObject({
        changes: [],
        values: [{ action: 'update', name }],
      });
    expect((await planned('-o', 'markdown')).out).toContain('**Named values**\n\n- \\~ named value default/');
    await applied();

    await write('all/nightly.yaml', triggered('other', 'two'));
    const moved = await planned();
    expect([lineOf(moved.out, '+'), lineOf(moved.out, '-')]).toEqual([
      [expect.stringMatching(/\/other\/url$/)],
      [expect.stringMatching(/\/hook\/url$/)],
    ]);
    expect(moved.out).toContain('1 named value to send, 1 named value to remove.');
    await applied();
    await rm(at('all/nightly.yaml'));
    expect(lineOf((await planned()).out, '-')).toEqual([expect.stringMatching(/\/other\/url$/)]);
    await applied();
    expect((await engine.admin<{ values: unknown[] }>('list_values', {})).body.values).toEqual([]);
    expect(outputs.filter((text) => text.includes(PLANTED))).toEqual([]);
  });

  test('of an engine without a key: the plan says what the write would say', async () => {
    const keyless = await startTestEngine({ databaseUrl: database.url, valuesKey: undefined });
    await write('nightly.yaml', triggered('hook', 'one'));
    const flags = ['--engine', keyless.url, '--admin-secret', keyless.adminSecret, '--manager', 'keyless'];
    const { code, out } = await runCommand(plan, ['-f', at('nightly.yaml'), ...flags]);
    expect(code).toBe(1);
    expect(out).toContain('the engine has no key for named values (--values-key)');
    expect(out).not.toContain(PLANTED);
    await keyless.close();
  });
});

describe('--fail-on breaking-in-use', () => {
  const argv = () => ['-f', at('all/note.yaml'), '-f', at('fewer.yaml'), '--fail-on', 'breaking-in-use'];
  const ask = (query: string, client: string) =>
    engine.graphql(query, {
      role: 'reader',
      headers: { 'x-engine-user-id': 'ann', 'graphql-client-name': client },
    });
  const today = () => new Date().toISOString().slice(0, 10);

  beforeAll(async () => {
    await write('fewer.yaml', reader(OWN, 'text'));
    // The engine writes what it has counted for other tests.
    await engine.admin('get_field_usage', {});
    await database.sql('truncate pergola.operation_usage, pergola.uncounted_usage');
  });

  test('refuses breaking changes of an engine that no client has used', async () => {
    const { code, out, err } = await say(plan, ...argv());
    expect(code).toBe(1);
    expect(out).toContain('\nin use: not known, the engine has counted no request in the last 30 days\n');
    expect(err).toMatch(
      /^refused by --fail-on breaking-in-use: the schema of reader: .*; the engine has counted no request in the last 30 days\n$/,
    );
  });

  test('passes breaking changes that no client uses', async () => {
    expect(await ask('query Types { note { __typename } }', 'web')).not.toHaveProperty('errors');
    const { code, out, err } = await say(plan, ...argv());
    expect([code, err]).toEqual([2, '']);
    expect(out).toContain(`\nin use: by the requests of the last 30 days, counted since ${today()}\n`);
    expect(out).not.toContain('in use)');
  });

  test('refuses those that an operation uses, with its name and its client', async () => {
    for (const client of ['web', 'web', 'ios']) {
      expect(await ask('query Notes { note { id } }', client)).not.toHaveProperty('errors');
    }
    const { code, out, err } = await say(plan, ...argv());
    const users = `Notes of web (2 requests, last on ${today()}), Notes of ios (1 request, last on ${today()})`;
    expect(code).toBe(1);
    expect(out).toMatch(/^schema of reader: \d+ breaking \(\d+ in use\), \d+ safe$/m);
    expect(out).toContain(`  breaking: Field note.id was removed. Used by ${users}.\n`);
    expect(err).toMatch(
      /^refused by --fail-on breaking-in-use: the schema of reader: .*, used by Notes of web /,
    );
    const markdown = (await say(plan, ...argv(), '-o', 'markdown')).out;
    expect(markdown).toContain('**Refused by --fail-on breaking-in-use**\n\n- the schema of reader: ');
    expect(markdown).toContain('  - breaking: Field note.id was removed. Used by Notes of web \\(2 requests');
  });

  test('JSON and YAML have the operations with each change', async () => {
    const json = JSON.parse((await say(plan, ...argv(), '-o', 'json')).out);
    expect(load((await say(plan, ...argv(), '-o', 'yaml')).out)).toEqual(json);
    const [schema] = json.schemas;
    expect(json.usage).toEqual({ days: 30, since: today() });
    expect(schema.changes).toContainEqual({
      severity: 'breaking',
      type: 'FIELD_REMOVED',
      description: 'Field note.id was removed.',
      usedByCount: 2,
      usedBy: [
        { operation: 'Notes', client: 'web', requests: 2, lastDay: today() },
        { operation: 'Notes', client: 'ios', requests: 1, lastDay: today() },
      ],
    });
    expect(schema.breakingInUse).toBe(schema.changes.filter(({ usedByCount = 0 }) => usedByCount > 0).length);
  });
});

describe('grants', () => {
  const engineOf = (grants: string) => `apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main, namespace: platform}
spec:
  allowedNamespaces: {from: All}
  grants: [{name: team, namespaces: [default], ${grants}}]
`;

  test('resources that no grant of the Engine in the folder covers are reported, and nothing is refused', async () => {
    await mkdir(at('granted'));
    await write('granted/note.yaml', TABLE);
    await write('granted/reader.yaml', reader(OWN));
    await write('granted/engine.yaml', engineOf('sources: [default], tables: [public.note]'));
    const lacking = await say(plan, '-f', at('granted'));
    expect(lacking.code).toBe(0);
    expect(lacking.out).toContain('TablePermission default/reader  GrantMissing: ');
    expect(lacking.out).toContain('reader');
    expect(lacking.out).not.toContain('Table default/note  GrantMissing');
    const { out } = await say(plan, '-f', at('granted'), '-o', 'json');
    const { resources } = JSON.parse(out) as { resources: { name: string; missingGrant?: string }[] };
    expect(resources.filter(({ missingGrant }) => missingGrant).map(({ name }) => name)).toEqual(['reader']);
    expect((await say(plan, '-f', at('granted'), '-o', 'markdown')).out).toContain('GrantMissing');
    await write(
      'granted/engine.yaml',
      engineOf('sources: [default], tables: [public.note], roles: [reader]'),
    );
    expect((await say(plan, '-f', at('granted'))).out).toBe('No difference.\n');
  });

  test('grants by labels of namespaces are not judged, because a folder has no labels', async () => {
    await write(
      'granted/engine.yaml',
      engineOf('').replace('namespaces: [default], ', 'namespaceSelector: {matchLabels: {a: b}}'),
    );
    expect((await say(plan, '-f', at('granted'))).out).not.toContain('GrantMissing');
  });
});
