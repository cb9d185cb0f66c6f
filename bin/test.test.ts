/** Tests `pergola test` as a program: what passes and fails in each format, that every test starts from the same data, that nothing outside is
 *  used, and what is said when the tests cannot run. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { TestWebhook } from '../testing/webhook.ts';

const TIMEOUT_MS = 300_000;
const SHOP = new URL('./testing/shop', import.meta.url);

/** Contains the folder, and what a test puts beside it. */
let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pergola-test-test-'));
  folder = join(root, 'folder');
  cpSync(SHOP, folder, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

type Run = { readonly code: number; readonly out: string; readonly err: string };

function pergolaTest(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  const args = ['bin/pergola.mjs', 'test', ...argv];
  // Commands in messages depend on what has started the process, such as npx.
  const given = { ...process.env, NO_COLOR: '1', npm_lifecycle_event: '', ...env };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: given }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });
}

/** Like `pergolaTest`, on the server of the run: a Postgres of its own takes a third of the time of a test. */
function onServer(argv: readonly string[]): Promise<Run> {
  return pergolaTest([...argv, '--database-url', inject('postgresUrl')]);
}

/** Writes PermissionTests, one document each: the name, the role, the query, the expectation in YAML. */
function writeTests(
  ...tests: readonly (readonly [
    name: string,
    role: string,
    query: string,
    expected: string,
    variable?: string,
  ])[]
) {
  const documents = tests.map(([name, role, query, expected, variable]) =>
    [
      'apiVersion: pergola.dev/v1alpha1',
      'kind: PermissionTest',
      `metadata: { name: "${name}" }`,
      'spec:',
      `  role: ${role}`,
      `  sessionVariables: { ${['X-Engine-User-Id: "2"', variable].filter(Boolean).join(', ')} }`,
      `  query: '${query}'`,
      `  expect: ${expected}`,
      '',
    ].join('\n'),
  );
  writeFileSync(join(folder, 'tests.yaml'), documents.join('---\n'));
}

const NEW_MAKER = 'mutation { insert_maker_one(object: {name: "New"}) { id } }';

test('a run that a signal ends leaves no process and no file, wherever it is', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeTests(['write', 'clerk', NEW_MAKER, '{ rows: [{ path: insert_maker_one, count: 1 }] }']);
  const temporary = join(root, 'temporary');
  mkdirSync(temporary);
  // Under root, Postgres runs as another user.
  chmodSync(root, 0o755);
  const began = Date.now();
  expect((await pergolaTest(['-f', folder], { TMPDIR: temporary })).code).toBe(0);
  const whole = Date.now() - began;
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGINT'] as const;
  for (const [i, signal] of signals.entries()) {
    const child = spawn(process.execPath, ['bin/pergola.mjs', 'test', '-f', folder], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = textOf(child.stderr);
    const ended = once(child, 'close');
    await sleep((whole * (i + 1)) / (signals.length + 1));
    child.kill(signal);
    const [code, by] = await ended;
    // Node ends by itself while it is still loading the program, and the run may be over before the signal.
    const isStopped = code === 2 && (await said) === `pergola test: stopped by ${signal}\n`;
    expect([code, by, await said, isStopped || by === signal || code === 0]).toEqual([
      code,
      by,
      await said,
      true,
    ]);
    await vi.waitFor(() => expect([foldersIn(temporary), processesWith(temporary)]).toEqual([[], []]), {
      timeout: 10_000,
      interval: 50,
    });
  }
});

/** Returns the folders that a run created. */
function foldersIn(temporary: string): readonly string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('pergola-'));
}

/** Returns the processes whose command line has the text. */
function processesWith(text: string): readonly string[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'command='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(text));
}

// The report must hold for names that no API server accepts: a folder has none.
test('passed and failed tests are printed in each format, and the exit code is 1', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeTests(
    ['own-sales', 'visitor', '{ sale { id } }', '{ rows: [{ path: sale, equal: [{ id: 3 }] }] }'],
    ['no <cost> #1', 'visitor', '{ product { cost } }', '{ rows: [{ path: product, count: 0 }] }'],
  );
  const difference =
    "expected data, received the error validation-failed: field 'cost' not found in type: 'product' at $.selectionSet.product.selectionSet.cost";
  expect(await pergolaTest(['-f', folder])).toEqual({
    code: 1,
    err: '',
    out: [
      'ok    own-sales     tests.yaml:1',
      'FAIL  no <cost> #1  tests.yaml:10',
      `      ${difference}`,
      '1 of 2 tests failed.',
      '',
    ].join('\n'),
  });
  const tap = await onServer(['-f', folder, '-o', 'tap']);
  expect([tap.code, tap.out]).toEqual([
    1,
    [
      'TAP version 14',
      '1..2',
      'ok 1 - own-sales',
      'not ok 2 - no <cost> \\#1',
      '  ---',
      '  at: "tests.yaml:10"',
      '  differences:',
      `    - ${JSON.stringify(difference)}`,
      '  ...',
      '',
    ].join('\n'),
  ]);
  const junit = await onServer(['-f', folder, '-o', 'junit']);
  expect(junit.out.replace(/time="[\d.]+"/g, 'time="T"')).toBe(
    [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites tests="2" failures="1" time="T">',
      '  <testsuite name="PermissionTest" tests="2" failures="1" time="T">',
      '    <testcase name="own-sales" classname="visitor" file="tests.yaml:1" time="T"/>',
      '    <testcase name="no &lt;cost&gt; #1" classname="visitor" file="tests.yaml:10" time="T">',
      `      <failure message="${difference}">${difference}</failure>`,
      '    </testcase>',
      '  </testsuite>',
      '</testsuites>',
      '',
    ].join('\n'),
  );
  const json = await onServer(['-f', folder, '-o', 'json', '--only', 'own-sales']);
  expect([json.code, JSON.parse(json.out)]).toEqual([
    0,
    {
      passed: 1,
      failed: 0,
      tests: [
        {
          name: 'own-sales',
          place: 'tests.yaml:1',
          role: 'visitor',
          passed: true,
          differences: [],
          durationMs: expect.any(Number),
        },
      ],
    },
  ]);
});

test('a test that cannot fail is named, since no role has what it names', {
  timeout: TIMEOUT_MS,
}, async () => {
  const refused = '{ error: { code: validation-failed } }';
  writeTests(
    ['no-cost', 'visitor', '{ product { cost } }', refused],
    ['no-price', 'visitor', '{ product { pryce } }', refused],
    ['no-filter', 'visitor', '{ product(where: { pryce: { _eq: 1 } }) { id } }', '{ error: {} }'],
    ['no-argument', 'visitor', '{ product(wher: {}) { id } }', refused],
    ['no-insert', 'visitor', NEW_MAKER, refused],
  );
  const { code, out } = await onServer(['-f', folder, '-o', 'json']);
  const { tests } = JSON.parse(out) as { tests: { name: string; notes?: readonly string[] }[] };
  const because = 'The test cannot fail, because the administrator does not have it either:';
  expect([code, Object.fromEntries(tests.map(({ name, notes }) => [name, notes]))]).toEqual([
    0,
    {
      'no-cost': undefined,
      'no-price': [`${because} Cannot query field "pryce" on type "product".`],
      'no-filter': [
        `${because} Expected value of type "product_bool_exp" not to include unknown field "pryce", found: { pryce: { _eq: 1 } }.`,
      ],
      'no-argument': [
        `${because} Unknown argument "wher" on field "query_root.product". Did you mean "where"?`,
      ],
      'no-insert': undefined,
    },
  ]);
  const text = await onServer(['-f', folder, '--only', 'no-price']);
  expect(text.out).toContain(`      ${because}`);
  const tap = await onServer(['-f', folder, '--only', 'no-price', '-o', 'tap']);
  expect(tap.out).toContain(`ok 1 - no-price\n# ${because}`);
  const junit = await onServer(['-f', folder, '--only', 'no-price', '-o', 'junit']);
  expect(junit.out).toContain(`<system-out>${because}`);
});

test('a rate of the folder refuses no test, and its other limits hold', { timeout: TIMEOUT_MS }, async () => {
  const limits = 'rate: { global: { maxRequestsPerMinute: 1 } }, nodes: { global: 1 }';
  writeFileSync(
    join(folder, 'limits.yaml'),
    `apiVersion: pergola.dev/v1alpha1\nkind: ApiLimits\nmetadata: { name: limits }\nspec: { ${limits} }\n`,
  );
  const three = '{ rows: [{ path: sale, count: 3 }] }';
  const refused = '{ error: { code: node-limit-exceeded } }';
  writeTests(
    ['one', 'clerk', '{ sale { id } }', three],
    ['two', 'clerk', '{ sale { id } }', three],
    ['three', 'clerk', '{ sale { id } maker { id } }', refused],
  );
  const { code, out } = await onServer(['-f', folder]);
  expect([code, out]).toEqual([0, expect.stringContaining('3 tests passed.')]);
});

test('the allow list of the folder refuses no test, so that none passes by its refusal', {
  timeout: TIMEOUT_MS,
}, async () => {
  const resource = (kind: string, name: string, spec: string) =>
    `apiVersion: pergola.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
  const queries = '[{ name: a, query: "query a { maker { id } }" }]';
  writeFileSync(
    join(folder, 'allowed.yaml'),
    [
      resource('QueryCollection', 'one', `{ name: one, queries: ${queries}, allowlist: {} }`),
      resource('QueryCollection', 'two', `{ name: two, queries: ${queries} }`),
      resource('AllowListEntry', 'two', '{ collection: two }'),
    ].join('---\n'),
  );
  writeTests(
    ['readable', 'clerk', '{ sale { id } }', '{ error: { code: validation-failed } }'],
    ['rows', 'clerk', '{ sale { id } }', '{ rows: [{ path: sale, count: 3 }] }'],
  );
  const argv = ['-f', folder, '--database-url', inject('postgresUrl')];
  const { code, out } = await pergolaTest(argv, { ENGINE_GRAPHQL_ENABLE_ALLOWLIST: 'true' });
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/FAIL +readable[\s\S]*ok +rows[\s\S]*1 of 2 tests failed/),
  ]);
});

test('a folder without SQL is said to lack it', { timeout: TIMEOUT_MS }, async () => {
  rmSync(join(folder, 'seed.sql'));
  writeTests(['denied', 'visitor', '{ maker { secret } }', '{ error: {} }']);
  const { code, err } = await onServer(['-f', folder]);
  expect([code, err]).toEqual([2, expect.stringContaining('the folder has no SQL that creates the tables')]);
});

test('each test starts from the data of the files, whatever others have written', {
  timeout: TIMEOUT_MS,
}, async () => {
  const three = '{ rows: [{ path: maker, count: 3 }] }';
  const writers = Array.from(
    { length: 10 },
    (_, i) => [`write-${i}`, 'clerk', NEW_MAKER, '{ data: { insert_maker_one: { id: 4 } } }'] as const,
  );
  writeTests(
    ...writers,
    ['read', 'clerk', '{ maker { id } }', three],
    ['refused', 'visitor', NEW_MAKER, '{ error: { code: validation-failed } }'],
  );
  expect(await onServer(['-f', folder])).toEqual({
    code: 0,
    err: '',
    out: expect.stringContaining('12 tests passed.\n'),
  });
});

test.each(['library', 'tenants-on-citus'])(
  'the tests of the example %s pass',
  { timeout: TIMEOUT_MS },
  async (example) => {
    const { code, out, err } = await pergolaTest(['-f', `deploy/examples/${example}`]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^\d+ tests passed\.$/m);
  },
);

const NOTES = `
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: { name: note }
spec:
  table: note
  computedFields: [{ name: size, function: note_size }]
  permissions:
    - role: writer
      select:
        columns: [id, body]
        filter: { owner: { _eq: X-Engine-User-Id } }
        maxRows: 2
        queryRootFields: [Select]
        subscriptionRootFields: []
      insert: { columns: [id, body], check: { body: { _neq: "" } }, set: { owner: X-Engine-User-Id } }
      update: { columns: [body], filter: { owner: { _eq: X-Engine-User-Id } }, check: { body: { _neq: "" } } }
      delete: { filter: { owner: { _eq: X-Engine-User-Id } }, backendOnly: true }
`;
const NOTE_TESTS = [
  [
    'rows',
    'writer',
    '{ note(order_by: {id: desc}) { id body } }',
    '{ rows: [{ path: note, count: 2, excludes: [{ id: 4 }] }] }',
  ],
  [
    'columns',
    'writer',
    '{ __type(name: "note") { fields { name } } }',
    '{ rows: [{ path: __type.fields, count: 2 }] }',
  ],
  [
    'no-aggregates',
    'writer',
    '{ note_aggregate { aggregate { count } } }',
    '{ error: { code: validation-failed } }',
  ],
  ['no-key', 'writer', '{ note_by_pk(id: 1) { id } }', '{ error: { code: validation-failed } }'],
  [
    'insert-columns',
    'writer',
    '{ __type(name: "note_insert_input") { inputFields { name } } }',
    '{ rows: [{ path: __type.inputFields, count: 2 }] }',
  ],
  [
    'insert-check',
    'writer',
    'mutation { insert_note(objects: [{ id: 9, body: "" }]) { affected_rows } }',
    '{ error: { code: permission-error } }',
  ],
  [
    'update-columns',
    'writer',
    '{ __type(name: "note_set_input") { inputFields { name } } }',
    '{ rows: [{ path: __type.inputFields, count: 1 }] }',
  ],
  [
    'update-check',
    'writer',
    'mutation { update_note(where: {}, _set: { body: "" }) { affected_rows } }',
    '{ error: { code: permission-error } }',
  ],
  [
    'update-rows',
    'writer',
    'mutation { update_note(where: {}, _set: { body: "x" }) { affected_rows } }',
    '{ data: { update_note: { affected_rows: 3 } } }',
  ],
  [
    'delete-rows',
    'writer',
    'mutation { delete_note(where: {}) { affected_rows } }',
    '{ data: { delete_note: { affected_rows: 3 } } }',
    'X-Engine-Use-Backend-Only-Permissions: "true"',
  ],
  [
    'no-delete',
    'writer',
    'mutation { delete_note(where: {}) { affected_rows } }',
    '{ error: { code: validation-failed } }',
  ],
] as const;

function writeNotes(): void {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'notes.yaml'), NOTES);
  writeFileSync(
    join(folder, 'notes.sql'),
    `create table note (id int primary key, owner text not null, body text not null, secret text);
     create function note_size(one note) returns int stable language sql as 'select length(one.body)';
     insert into note values (1, '2', 'a', 's'), (2, '2', 'b', 's'), (3, '2', 'c', 's'), (4, '1', 'd', 's');`,
  );
  writeTests(...NOTE_TESTS);
}

test('wider permissions that no test notices are reported, and each has a test that notices it', {
  timeout: 2 * TIMEOUT_MS,
}, async () => {
  writeNotes();
  const all = await pergolaTest(['-f', folder, '--mutate', '--coverage', '-o', 'tap']);
  expect([all.code, all.err.replace(/^(Trying wider permissions: \d+ of 17\n)+/, '')]).toEqual([
    0,
    [
      '',
      'role    table  select  insert  update  delete',
      'writer  note        4       2       3       2',
      '4 of 4 permissions are tested (100 %).',
      '',
      'The tests notice each of 17 wider permissions.',
      '',
    ].join('\n'),
  ]);
  const few = await pergolaTest([
    '-f',
    folder,
    '--mutate',
    '--min-coverage',
    '76',
    '--only',
    'rows',
    '--only',
    'insert-check',
    '--only',
    'update-rows',
  ]);
  const filter = '{"owner":{"_eq":"X-Engine-User-Id"}}';
  expect(few.code).toBe(1);
  expect(few.err).toMatch(
    /^(Trying wider permissions: \d+ of 17\n)+The coverage is 75 %, and --min-coverage is 76 %\.\n$/,
  );
  expect(few.out.split('\n').slice(5)).toEqual([
    'role    table  select  insert  update  delete',
    'writer  note        1       1       1       0',
    '3 of 4 permissions are tested (75 %).',
    '',
    'unnoticed  writer on note, select (5 of 7)',
    '             with the column owner',
    '             with the column secret',
    '             with the computed field size',
    '             with aggregations',
    '             with every root field',
    'unnoticed  writer on note, insert (1 of 3)',
    '             with the column secret',
    'unnoticed  writer on note, update (4 of 5)',
    '             without its check {"body":{"_neq":""}}',
    '             with the column id',
    '             with the column owner',
    '             with the column secret',
    'unnoticed  writer on note, delete (2 of 2)',
    `             without its filter ${filter}`,
    '             without backendOnly',
    'No test notices 12 of 17 wider permissions.',
    '',
  ]);
  const json = await pergolaTest([
    '-f',
    folder,
    '--mutate',
    '--coverage',
    '--only',
    'delete-rows',
    '-o',
    'json',
  ]);
  expect([json.code, JSON.parse(json.out)]).toMatchObject([
    1,
    {
      coverage: { permissions: 4, tested: 1 },
      mutations: { mutants: 17, unnoticed: 16 },
    },
  ]);
  expect(JSON.parse(json.out).mutations.items.at(-2)).toEqual({
    role: 'writer',
    source: 'default',
    schema: 'public',
    table: 'note',
    operation: 'delete',
    change: `without its filter ${filter}`,
    noticedBy: 'delete-rows',
  });
});

test('wider permissions are not tried while a test fails', { timeout: TIMEOUT_MS }, async () => {
  writeTests(['fails', 'visitor', '{ sale { id } }', '{ error: {} }']);
  const { code, out } = await onServer(['-f', folder, '--mutate']);
  expect([code, out.split('\n').slice(2)]).toEqual([1, ['1 of 1 test failed.', '']]);
});

test('a server of the user gets databases that are removed, and sources and triggers reach nothing outside', {
  timeout: TIMEOUT_MS,
}, async () => {
  const webhook = await TestWebhook.start();
  const url = new URL(inject('postgresUrl'));
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  // Other files use the server at the same time.
  url.username = `tester_${process.pid}`;
  await client.query(`create role ${url.username} superuser login password '${url.password}'`);
  writeFileSync(
    join(folder, 'outside.yaml'),
    `
apiVersion: pergola.dev/v1alpha1
kind: Source
metadata: { name: outside }
spec: { name: outside, connection: { url: { value: "postgres://nobody@127.0.0.1:9/none" } }, customization: { rootFields: { prefix: out_ } } }
---
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: { name: outside-maker }
spec: { source: outside, table: maker, configuration: { customName: outMaker }, permissions: [{ role: clerk, select: { columns: [id], filter: {} } }] }
---
apiVersion: pergola.dev/v1alpha1
kind: EventTrigger
metadata: { name: maker-added }
spec: { name: maker_added, source: default, table: maker, insert: { columns: ["*"] }, webhook: { value: "${webhook.url}" } }
`,
  );
  writeTests(
    ['write', 'clerk', NEW_MAKER, '{ rows: [{ path: insert_maker_one, count: 1 }] }'],
    ['read', 'clerk', '{ out_outMaker { id } }', '{ rows: [{ path: out_outMaker, count: 3 }] }'],
  );
  const done = await pergolaTest(['-f', folder, '--database-url', url.href]);
  expect(done).toEqual({ code: 0, err: '', out: expect.stringContaining('2 tests passed.') });
  expect(webhook.received).toEqual([]);
  webhook.close();
  const owned = 'select datname from pg_database where pg_get_userbyid(datdba) = $1';
  const { rows } = await client.query(owned, [url.username]);
  expect(rows).toEqual([]);
  await client.query(`drop role ${url.username}`);
  await client.end();
});

test('migrations run before the other files, and files that undo them do not run', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeNotes();
  const sql = join(folder, 'notes.sql');
  const [create = '', insert = ''] = readFileSync(sql, 'utf8').split(/(?=insert)/);
  for (const [name, text] of [
    ['migrations/default/1_note/up.sql', create],
    ['migrations/default/1_note/down.sql', 'drop table note;'],
    [
      'migrations/default/2_index.sql',
      '-- pergola: no-transaction\ncreate index concurrently on note (owner);',
    ],
    ['migrations/other/1_other.sql', 'create table other (id int);'],
    [
      'migration.yaml',
      'apiVersion: pergola.dev/v1alpha1\nkind: Migration\nmetadata: { name: default }\n' +
        'spec: { files: [{ name: 3_declared.sql, sql: create table declared (id int); }] }',
    ],
    ['notes.sql', `insert into other values (1); insert into declared values (1); ${insert}`],
  ] as const) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  expect(await onServer(['-f', folder])).toMatchObject({ code: 0, err: '' });
  cpSync(join(folder, 'migrations'), join(root, 'elsewhere'), { recursive: true });
  rmSync(join(folder, 'migrations'), { recursive: true });
  const elsewhere = await onServer(['-f', folder, '--migrations', join(root, 'elsewhere')]);
  expect(elsewhere).toMatchObject({ code: 0, err: '' });
  writeFileSync(join(root, 'elsewhere/default/4_broken.sql'), 'create table broken (');
  const broken = await onServer(['-f', folder, '--migrations', join(root, 'elsewhere')]);
  expect([broken.code, broken.out, broken.err]).toEqual([2, '', expect.stringContaining('4_broken.sql')]);
});

test('a folder whose resources or SQL are wrong runs no test, and says why', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeTests(['denied', 'visitor', '{ maker { secret } }', '{ error: {} }']);
  writeFileSync(
    join(folder, 'typo.yaml'),
    'apiVersion: pergola.dev/v1alpha1\nkind: TablePermission\nmetadata: { name: typo }\n' +
      'spec: { source: default, table: nowhere, role: visitor, select: { columns: [id], filter: {} } }\n',
  );
  const typo = await onServer(['-f', folder]);
  expect([typo.code, typo.out, typo.err]).toEqual([
    2,
    '',
    expect.stringMatching(
      /^TablePermission default\/typo is not Ready: .*nowhere.*\npergola test: correct the resources above; no test was run\n$/,
    ),
  ]);
  writeFileSync(join(folder, 'z.sql'), 'create table broken (');
  const broken = await onServer(['-f', folder]);
  expect([broken.code, broken.out, broken.err]).toEqual([
    2,
    '',
    expect.stringMatching(/^pergola test: z\.sql:1: syntax error/),
  ]);
});

test('wrong flags, folders without tests and invalid tests are reported before anything starts', {
  timeout: TIMEOUT_MS,
}, async () => {
  const errorOf = async (...argv: string[]) => {
    const { code, out, err } = await pergolaTest(argv);
    expect([code, out]).toEqual([2, '']);
    return err;
  };
  expect(await errorOf()).toBe(
    'pergola test: the folder is required: -f FOLDER\nSee: bin/pergola.mjs test --help\n',
  );
  expect(await errorOf('-f', join(folder, 'none'))).toContain('there is no folder');
  expect(await errorOf('-f', folder, '-o', 'xml')).toContain(
    '-o xml is not supported; use text, json, junit, tap',
  );
  expect(await errorOf('-f', folder, '--database-url', 'db')).toContain(
    '--database-url needs a URL such as postgres://',
  );
  expect(await errorOf('-f', folder)).toContain('has no PermissionTest; add one');
  expect(await errorOf('-f', folder, '--min-coverage', 'most')).toContain(
    '--min-coverage is a number from 0 to 100, not most',
  );
  writeTests(['one', 'visitor', '{ sale { id } }', '{ error: {} }']);
  expect(await errorOf('-f', folder, '--only', 'on')).toContain('there is no test on; did you mean one?');
  writeTests(['one', 'visitor', '{ sale { id } }', '{ errors: {} }']);
  expect(await errorOf('-f', folder)).toMatch(
    /^tests.yaml:1: PermissionTest default\/one: spec.expect.errors is not a field; the nearest name is "error"\n/,
  );
  writeTests(['one', 'visitor', '{ sale { id }', '{ error: {} }']);
  expect(await errorOf('-f', folder)).toMatch(
    /^tests.yaml:1: PermissionTest default\/one: spec.query: Syntax Error: Expected Name, found <EOF>. \(line 1\)\n/,
  );
  const help = await pergolaTest(['--help']);
  expect([help.code, help.out.split('\n')[0]]).toEqual([
    0,
    'bin/pergola.mjs test -f FOLDER: run the PermissionTests of a folder, without a cluster.',
  ]);
});
