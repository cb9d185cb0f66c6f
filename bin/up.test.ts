/** Tests `pergola up` as a user runs it: start, query, edit, stop and start again, and two instances at once. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../testing/database.ts';
import { processInfo } from './up/processes.ts';

const TIMEOUT_MS = 120_000;
/** A copy of the example, because users edit theirs. */
const SHOP = new URL('./testing/shop', import.meta.url);

let folder: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync('/var/tmp/pergola-up-');
  cpSync(SHOP, join(folder, 'shop'), { recursive: true });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(stop));
  rmSync(folder, { recursive: true, force: true });
});

type Up = {
  readonly process: ChildProcess;
  readonly url: string;
  readonly secret: string;
  readonly said: () => string;
};

async function up(...flags: string[]): Promise<Up> {
  const usual = { '--port': '0', '--data': join(folder, 'data') };
  const ours = Object.entries(usual).filter(([flag]) => !flags.includes(flag));
  const args = ['bin/pergola.mjs', 'up', join(folder, 'shop'), ...ours.flat(), ...flags];
  return ready(spawn(process.execPath, args, { env: { ...process.env, NO_COLOR: '1' } }));
}

/** Waits until the first pass is done, or the process has ended. */
async function ready(child: ChildProcess): Promise<Up> {
  running.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream!.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  await until(
    () => /Ctrl-C stops everything/.test(said) || child.exitCode !== null,
    () => said,
  );
  const url = /Console +(http:\S+?)\/console\/\s/.exec(said)?.[1] ?? '';
  return { process: child, url, secret: /Admin secret +(\S+)/.exec(said)?.[1] ?? '', said: () => said };
}

/** Starts an instance that must become ready. */
async function started(...flags: string[]): Promise<Up> {
  const it = await up(...flags);
  expect(it.process.exitCode, it.said()).toBeNull();
  return it;
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  return exited;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

type Running = { readonly pid: number; readonly command: string };

function childrenOf(parent: number): readonly Running[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' }).split(
    '\n',
  );
  return lines.flatMap((line) => {
    const [, pid, ppid, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(ppid) === parent ? [{ pid: Number(pid), command: command! }] : [];
  });
}

function isRunning(pid: number): boolean {
  return processInfo(pid) !== undefined;
}

async function until(holds: () => boolean | Promise<boolean>, said = () => ''): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) expect.fail(`it did not come about within a minute\n${said()}`);
    await sleep(50);
  }
}

async function ask(
  { url, secret }: Up,
  query: string,
  role: string,
): Promise<{ data?: unknown; errors?: unknown }> {
  const response = await fetch(`${url}/v1/graphql`, {
    method: 'POST',
    headers: { 'x-engine-admin-secret': secret, 'x-engine-role': role, 'x-engine-user-id': '1' },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as { data?: unknown; errors?: unknown };
}

test('a role reads what its resource permits, an edit takes effect within two seconds, and a restart keeps the data', {
  timeout: TIMEOUT_MS,
}, async () => {
  const first = await started();
  expect(first.said()).toContain('Ran seed.sql.');
  expect(first.said()).toContain('8 of 8 resources are Ready');
  const titles = '{ product(order_by: {name: asc}, limit: 2) { name maker { name } } }';
  const answer = await ask(first, titles, 'visitor');
  expect(answer).toEqual({
    data: {
      product: [
        { name: 'awl', maker: { name: 'Anvil' } },
        { name: 'bolt', maker: { name: 'Bellows' } },
      ],
    },
  });
  expect((await ask(first, '{ product { cost } }', 'visitor')).errors).toBeDefined();
  expect((await ask(first, '{ sale { id } }', 'visitor')).data).toEqual({ sale: [{ id: 1 }, { id: 2 }] });
  expect((await ask(first, '{ sale { id } }', 'clerk')).data).toMatchObject({ sale: { length: 3 } });

  const file = join(folder, 'shop/permissions/visitor.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('[id, name]', '[id, name, cost]'));
  const edited = Date.now();
  await until(async () => (await ask(first, '{ product { cost } }', 'visitor')).errors === undefined);
  expect(Date.now() - edited).toBeLessThan(2000);

  await ask(first, 'mutation { insert_maker_one(object: {name: "New"}) { id } }', 'clerk');
  const secret = join(folder, 'data/admin-secret');
  expect(statSync(secret).mode & 0o777).toBe(0o600);
  expect(await stop(first.process)).toBe(0);
  expect(existsSync(join(folder, 'data/up.pid'))).toBe(false);
  await expect(fetch(`${first.url}/healthz`)).rejects.toThrow();

  const second = await started();
  expect(second.secret).toBe(first.secret);
  expect(second.said()).not.toContain('Ran seed.sql.');
  const names = await ask(second, '{ maker(where: {name: {_eq: "New"}}) { name } }', 'clerk');
  expect(names).toEqual({ data: { maker: [{ name: 'New' }] } });
  expect((await ask(second, '{ product(limit: 1) { cost } }', 'visitor')).errors).toBeUndefined();
});

test('instances with different data run at the same time, and a second instance on the same data does not start', {
  timeout: TIMEOUT_MS,
}, async () => {
  const [one, other] = await Promise.all([started(), started('--data', join(folder, 'other'))]);
  expect(one.url).not.toBe(other.url);
  for (const each of [one, other]) {
    expect((await ask(each, '{ maker { id } }', 'visitor')).data).toMatchObject({ maker: { length: 3 } });
  }
  const third = await up();
  expect(third.process.exitCode).toBe(1);
  expect(third.said()).toContain('another instance (pid');
  expect(third.said()).not.toContain('Stopping.');
  const fourth = await up('--data', join(folder, 'fourth'), '--port', new URL(one.url).port);
  expect(fourth.process.exitCode).toBe(1);
  // The two are written to different streams.
  expect(fourth.said()).toContain('is in use; give another one');
  expect(fourth.said()).toContain('Stopping.\n');
});

const TRIGGERS = `
apiVersion: pergola.dev/v1alpha1
kind: EventTrigger
metadata: { name: maker-changed }
spec:
  source: default
  table: maker
  name: maker_changed
  insert: { columns: ["*"] }
  webhook: { value: "http://127.0.0.1:9/hook" }
  retry: { limit: 3, intervalSeconds: 1, timeoutSeconds: 5 }
---
apiVersion: pergola.dev/v1alpha1
kind: CronTrigger
metadata: { name: nightly }
spec:
  name: nightly
  schedule: "0 3 * * *"
  webhook: { value: "{{UP_TEST_JOBS}}/nightly" }
`;

test('the printed command and database address work, and failed deliveries and unset variables are printed once', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeFileSync(join(folder, 'shop/triggers.yaml'), TRIGGERS);
  const it = await started('--enable-console=false');
  expect(it.said()).not.toContain('Sign in');
  const command = /Preview a change:\n +(.*)\n/.exec(it.said())?.[1] ?? '';
  expect(command).not.toContain(it.secret);
  const plan = spawn('sh', ['-c', command], {
    env: { ...process.env, ENGINE_GRAPHQL_ADMIN_SECRET: 'other' },
  });
  let planned = '';
  plan.stdout.on('data', (chunk) => {
    planned += chunk;
  });
  await new Promise((resolve) => plan.once('close', resolve));
  expect(planned).toContain('Nothing to apply; 1 resource has a problem.');

  const unset = 'The environment variable UP_TEST_JOBS of CronTrigger default/nightly is not set';
  const failed =
    'An event of the event trigger maker_changed was not delivered: POST http://127.0.0.1:9/hook: ECONNREFUSED.';
  const client = new pg.Client(/Database +(\S+)/.exec(it.said())![1]);
  await client.connect();
  await client.query("insert into maker (name) values ('One'), ('Two')");
  await until(async () => {
    const events = await client.query('select 1 from pergola.event_log where error');
    return events.rowCount === 2;
  });
  await client.end();
  await until(() => it.said().includes(failed));
  for (const text of [unset, failed]) expect(it.said().split(text)).toHaveLength(2);
});

test('a start finds Postgres at the address of the one before, and says what an empty folder lacks', {
  timeout: TIMEOUT_MS,
}, async () => {
  rmSync(join(folder, 'shop'), { recursive: true });
  mkdirSync(join(folder, 'shop'));
  const address = ({ said }: Up) => /Database +(\S+)/.exec(said())![1];
  const first = await started();
  expect(first.said()).toMatch(
    /0 of 0 resources are Ready: no \*\.yaml, .* has a resource of pergola\.dev\/v1alpha1/,
  );
  await stop(first.process);
  expect(address(await started())).toBe(address(first));
});

const TAG = `
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: { name: tag }
spec: { source: default, table: tag }
`;

test('a new SQL file is run and its table served, a failing one is tried again, and a changed one is named', {
  timeout: TIMEOUT_MS,
}, async () => {
  const shop = join(folder, 'shop');
  const it = await started();
  const said = (text: string) => until(() => it.said().includes(text), it.said);
  writeFileSync(join(shop, 'tag.yaml'), TAG);
  await said('8 of 9 resources are Ready');
  writeFileSync(join(shop, 'down.sql'), 'drop table sale;');
  writeFileSync(join(shop, 'tag.sql'), 'select 1;\ncreate table tag (id int primary ky);');
  await said('tag.sql:2: syntax error at or near "ky"');
  writeFileSync(join(shop, 'tag.sql'), 'create table tag (id int primary key); insert into tag values (7);');
  await said('Ran tag.sql.');
  await said('9 of 9 resources are Ready');
  expect(await ask(it, '{ tag { id } sale { id } }', 'admin')).toEqual({
    data: { tag: [{ id: 7 }], sale: [{ id: 1 }, { id: 2 }, { id: 3 }] },
  });

  const changed = 'seed.sql has changed since it was run, and is not run again.';
  expect(it.said()).not.toContain(changed);
  appendFileSync(join(shop, 'seed.sql'), '\n-- a remark');
  await said(changed);
  mkdirSync(join(shop, 'migrations'));
  writeFileSync(join(shop, 'migrations/1_size.sql'), 'alter table tag add column size int default 3;');
  await said('Ran the migration migrations/1_size.sql.');
  await until(async () => (await ask(it, '{ tag { size } }', 'admin')).errors === undefined);
  expect(it.said().split(changed)).toHaveLength(2);
  appendFileSync(join(shop, 'migrations/1_size.sql'), 'select 1;');
  await said('It is tried again when a file changes.');
  await said('1_size.sql');
});

test('renamed, new and dropped columns and tables, and a broken file, say what to do and name the file', {
  timeout: TIMEOUT_MS,
}, async () => {
  const it = await started();
  const said = (text: string | RegExp) =>
    until(() => (typeof text === 'string' ? it.said().includes(text) : text.test(it.said())), it.said);
  const client = new pg.Client(/Database +(\S+)/.exec(it.said())![1]);
  await client.connect();
  // The columns of the start are remembered by then.
  await sleep(4000);
  await client.query(
    'alter table product rename column name to names; create table review (id int primary key); alter table maker add column founded int',
  );
  await said(/\(?permissions\/\w+\.yaml:\d+\)? +False +DependencyNotReady .*column "name" does not exist/);
  await said(/→ Column "name": if it is now "names", write that .*; if it was dropped, remove it /);
  await said(
    /New table public\.review: it is in the API once a Table names it\. To write one: \S+pergola\.mjs init /,
  );
  await said('New in table public.maker: founded. A role sees a column once its permission lists it');
  await client.query('drop table sale');
  await said(/→ Table "sale": if .*; if it was dropped, delete its Table, permissions and relationships/);
  await client.end();
  appendFileSync(join(folder, 'shop/tables.yaml'), '\nspec: [\n');
  await said(
    /tables\.yaml: its 3 resources are not applied; the engine keeps serving what it has of the file/,
  );
});

test('SQL files are not run in a database of the user, and up says so', { timeout: TIMEOUT_MS }, async () => {
  const database = await createDatabase();
  try {
    const it = await up('--database-url', database.url);
    expect(it.said()).toContain('1 *.sql file below');
    expect(it.said()).toContain('With --run-sql they are');
    await stop(it.process);
    expect(await database.sql("select to_regclass('maker') as maker")).toEqual([{ maker: null }]);
  } finally {
    await database.drop();
  }
});

test('the engine and Postgres end when up is killed, and a second start has the same data and port', {
  timeout: TIMEOUT_MS,
}, async () => {
  const first = await started();
  await ask(first, 'mutation { insert_maker_one(object: {name: "Kept"}) { id } }', 'clerk');
  const children = childrenOf(first.process.pid!);
  expect(children.filter(({ command }) => /serve|postgres -D/.test(command))).toHaveLength(2);
  const killed = Date.now();
  await kill(first.process);
  await until(() => children.every(({ pid }) => !isRunning(pid)));
  expect(Date.now() - killed).toBeLessThan(10_000);
  const second = await started('--port', new URL(first.url).port);
  expect(second.url).toBe(first.url);
  expect(second.said()).not.toContain('earlier start');
  const names = await ask(second, '{ maker(where: {name: {_eq: "Kept"}}) { name } }', 'clerk');
  expect(names).toEqual({ data: { maker: [{ name: 'Kept' }] } });
});

test('a start ends the engine and the Postgres that an earlier one left running, and says so', {
  timeout: TIMEOUT_MS,
}, async () => {
  const first = await started();
  const children = childrenOf(first.process.pid!);
  // The shells that would end the others.
  for (const { pid, command } of children) if (command.startsWith('/bin/sh')) process.kill(pid, 'SIGKILL');
  await kill(first.process);
  const left = children.filter(({ command }) => /serve|postgres -D/.test(command));
  expect(left.map(({ pid }) => isRunning(pid))).toEqual([true, true]);
  const second = await started('--port', new URL(first.url).port);
  expect(second.said()).toMatch(
    /Ended what an earlier start left running: engine \(pid \d+\), Postgres \(pid \d+\)\./,
  );
  expect(left.map(({ pid }) => isRunning(pid))).toEqual([false, false]);
  expect((await ask(second, '{ maker { id } }', 'visitor')).errors).toBeUndefined();
});

test('a pid file whose pid belongs to another process now is ignored', { timeout: TIMEOUT_MS }, async () => {
  const other = spawn('sleep', ['600']);
  running.push(other);
  mkdirSync(join(folder, 'data'));
  for (const name of ['up.pid', 'engine.pid']) {
    writeFileSync(join(folder, 'data', name), `${other.pid}\nearlier\n`);
  }
  const it = await started();
  expect(it.said()).not.toContain('earlier start');
  expect(isRunning(other.pid!)).toBe(true);
});

/** `script` of util-linux runs a command in a terminal of its own, which closes when `script` is killed. */
test.runIf(process.platform === 'linux')(
  'everything ends when its terminal is closed (Linux)',
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const data = join(folder, 'data');
    const command = `exec ${process.execPath} bin/pergola.mjs up ${join(folder, 'shop')} --port 0 --data ${data}`;
    const terminal = await ready(spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null']));
    const pid = Number(readFileSync(join(data, 'up.pid'), 'utf8').split('\n')[0]);
    const children = childrenOf(pid);
    expect(children.filter(({ command }) => /serve|postgres -D/.test(command))).toHaveLength(2);
    await kill(terminal.process);
    await until(() => [{ pid }, ...children].every((each) => !isRunning(each.pid)));
    expect(existsSync(join(data, 'up.pid'))).toBe(false);
  },
);

/** SQL of which each part needs the part before: any other order fails. */
const ORDERED = {
  'migration.yaml': `
apiVersion: pergola.dev/v1alpha1
kind: Migration
metadata: { name: first }
spec: { files: [{ name: 1_step.sql, sql: "create table step (id int primary key);" }] }
---
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: { name: step }
spec:
  table: step
  permissions: [{ role: visitor, select: { columns: [second], filter: {} } }]
---
apiVersion: pergola.dev/v1alpha1
kind: PermissionTest
metadata: { name: steps }
spec:
  role: visitor
  query: "{ step { second } }"
  expect: { data: { step: [{ second: 3 }] } }
`,
  'migrations/2_second.sql': 'alter table step add column second int;',
  'migrations/3_third/up.sql': 'alter table step add column third int;',
  'migrations/3_third/down.sql': 'alter table step drop column third;',
  'a.sql': 'insert into step (id, second, third) values (1, 3, 4);',
  'b.down.sql': 'drop table step;',
};

function writeShop(files: Readonly<Record<string, string>>) {
  rmSync(join(folder, 'shop'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeIn(name, text);
}

function writeIn(name: string, text: string) {
  const file = join(folder, 'shop', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

test('SQL runs in one order in up and test, in the embedded database and in one of the user, as --help says', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeShop(ORDERED);
  const database = await createDatabase();
  try {
    const own = await started('--database-url', database.url, '--run-sql');
    for (const it of [await started('--data', join(folder, 'embedded')), own]) {
      expect(it.said()).toMatch(/1_step.sql.*2_second.sql.*3_third\/up.sql.*a.sql.*(\d) of \1 resources/s);
      expect(await ask(it, '{ step { second } }', 'visitor')).toEqual({ data: { step: [{ second: 3 }] } });
      expect((await ask(it, '{ step { third } }', 'visitor')).errors).toBeDefined();
      await stop(it.process);
    }
    for (const flags of [[], ['--database-url', database.url]]) {
      expect(pergola('test', '-f', join(folder, 'shop'), ...flags)).toContain('1 test passed.');
    }
  } finally {
    await database.drop();
  }
  for (const command of ['up', 'test']) {
    expect(pergola(command, '--help')).toMatch(
      /the files of Migration resources, those of FOLDER\/migrations/,
    );
  }
});

function pergola(...args: string[]): string {
  return execFileSync(process.execPath, ['bin/pergola.mjs', ...args], { encoding: 'utf8' });
}

const EDITED = 'alter table step add column third int default 9;';

test('an edited migration is refused with commands that exist, and one of them accepts it', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeShop(ORDERED);
  const it = await started();
  writeIn('migrations/3_third/up.sql', EDITED);
  await until(() => it.said().includes('the file was edited after it was applied'), it.said);
  expect(it.said()).toContain('start bin/pergola.mjs up with --edited-sql down or --edited-sql recreate');
  const command = /accept it with (\S.*)$/m.exec(it.said())![1]!;
  expect(command).toContain('--mark-applied 3');
  expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' })).toContain('recorded as applied');
});

test('with --edited-sql down the newest migration is undone by its down.sql and run again', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeShop(ORDERED);
  const it = await started('--edited-sql', 'down');
  const third = () => ask(it, '{ step { id third } }', 'admin');
  expect(await third()).toEqual({ data: { step: [{ id: 1, third: 4 }] } });
  writeIn('migrations/3_third/up.sql', EDITED);
  await until(async () => JSON.stringify(await third()).includes('"third":9'), it.said);
  expect(it.said()).toContain('Undid the edited migration with migrations/3_third/down.sql.');

  // A down.sql that fails leaves everything as it was; when it is corrected, it is run.
  writeIn('migrations/3_third/down.sql', 'alter table step drop column third;\nselect 1 / 0;');
  writeIn('migrations/3_third/up.sql', EDITED.replace('9', '10'));
  await until(() => it.said().includes('down.sql:2: division by zero'), it.said);
  expect(await third()).toEqual({ data: { step: [{ id: 1, third: 9 }] } });
  writeIn('migrations/3_third/down.sql', 'alter table step drop column third;');
  await until(async () => JSON.stringify(await third()).includes('"third":10'), it.said);

  // Only the newest one may change.
  writeIn('migrations/2_second.sql', 'alter table step add column second bigint;');
  await until(() => /2 second: the file was edited after it was applied/.test(it.said()), it.said);
  writeIn('migrations/2_second.sql', ORDERED['migrations/2_second.sql']);
  rmSync(join(folder, 'shop/migrations/3_third/down.sql'));
  writeIn('migrations/3_third/up.sql', EDITED);
  await until(() => /there is no \S+3_third\/down\.sql to undo it/.test(it.said()), it.said);
});

const STEP_TRIGGER = `
apiVersion: pergola.dev/v1alpha1
kind: EventTrigger
metadata: { name: step-changed }
spec: { table: step, name: step_changed, insert: { columns: ["*"] }, webhook: { value: "http://127.0.0.1:9/hook" } }
`;

test('with --edited-sql recreate the embedded database is created anew for any edited SQL, and events are captured in it', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeShop({ ...ORDERED, 'trigger.yaml': STEP_TRIGGER });
  const it = await started('--edited-sql', 'recreate');
  const steps = () => ask(it, '{ step(order_by: {id: asc}) { id third } }', 'admin');
  await ask(it, 'mutation { insert_step_one(object: {id: 2}) { id } }', 'admin');
  writeIn('migrations/3_third/up.sql', `${ORDERED['migrations/3_third/up.sql']} update step set third = 1;`);
  await until(
    async () => JSON.stringify(await steps()) === '{"data":{"step":[{"id":1,"third":4}]}}',
    it.said,
  );
  writeIn('a.sql', 'insert into step (id, second, third) values (1, 3, 5);');
  await until(
    async () => JSON.stringify(await steps()) === '{"data":{"step":[{"id":1,"third":5}]}}',
    it.said,
  );
  const client = new pg.Client(/Database +(\S+)/.exec(it.said())![1]);
  // The database ends connections to the one that is replaced.
  client.on('error', () => {});
  await client.connect();
  await until(async () => {
    await client.query('insert into step (id) select max(id) + 1 from step');
    const events = await client.query('select 1 from pergola.event_log').catch(() => undefined);
    return (events?.rowCount ?? 0) > 0;
  }, it.said);
  await client.end();

  // A file that cannot be run deletes nothing.
  writeIn('migrations/4_broken.sql', 'create tabel t ();');
  await until(() => it.said().includes('4_broken.sql:1'), it.said);
  expect(JSON.stringify(await steps())).toContain('"id":2');
});

/** The text that tells a user what to do next. */
const NEXT = /Sign in +http\S+\n\n(.*\n){4,6}.*Ctrl-C stops everything; a second start keeps the data\./;

test('the data folder keeps itself out of git, and a folder with files of the user is left as it is', {
  timeout: TIMEOUT_MS,
}, async () => {
  const [data, mine] = [join(folder, 'data'), join(folder, 'mine')];
  mkdirSync(mine);
  writeFileSync(join(mine, 'notes.txt'), '');
  const [first] = await Promise.all([started(), started('--data', mine)]);
  execFileSync('git', ['init', '--quiet', folder]);
  const status = () =>
    execFileSync('git', ['-C', folder, 'status', '--porcelain', '-uall', 'data'], { encoding: 'utf8' });
  expect(status()).toBe('');
  expect(existsSync(join(mine, '.gitignore'))).toBe(false);
  // The folder of a version that wrote none.
  await stop(first.process);
  rmSync(join(data, '.gitignore'));
  await started();
  expect(status()).toBe('');
});

test('the link that signs in and what to do next are printed last', { timeout: TIMEOUT_MS }, async () => {
  const said = (await started()).said();
  expect(said).toMatch(NEXT);
  expect(said.search(NEXT)).toBeGreaterThan(said.indexOf('8 of 8 resources are Ready'));
  expect(said.trimEnd().split('\n').at(-1)).toContain('Ctrl-C stops everything');
});

test.runIf(process.platform === 'linux')(
  'Enter prints them again on a terminal, and in the background the input is left to the shell (Linux)',
  { timeout: TIMEOUT_MS },
  async () => {
    const command = `exec ${process.execPath} bin/pergola.mjs up ${join(folder, 'shop')} --port 0 --data ${join(folder, 'data')}`;
    const inTerminal = (text: string) =>
      spawn('script', ['--quiet', '--flush', '--command', text, '/dev/null'], {
        env: { ...process.env, SHELL: '/bin/bash' },
      });
    const terminal = await ready(inTerminal(command));
    expect(terminal.said()).toContain('Enter prints this text again.');
    // Colours are sequences of the terminal, and not part of what is copied.
    expect(terminal.said()).not.toContain('\\u001b');
    const count = () => terminal.said().split('Sign in  ').length - 1;
    expect(count()).toBe(1);
    terminal.process.stdin!.write('\n');
    await until(() => count() === 2, terminal.said);
    terminal.process.stdin!.write('\u0003');
    await until(() => terminal.process.exitCode !== null, terminal.said);
    expect(terminal.said()).toContain('Stopping.');

    const shell = await ready(inTerminal(`set -m; (${command}) & read line; echo got $line; kill %1; wait`));
    shell.process.stdin!.write('typed\n');
    await until(() => shell.process.exitCode !== null, shell.said);
    expect(shell.said()).toContain('got typed');
    expect(shell.said().split('Sign in  ')).toHaveLength(2);
    expect(shell.said()).toContain('Stopping.');
  },
);

test('everything ends when npm, which started it, is killed, and when nothing reads the output', {
  timeout: TIMEOUT_MS,
}, async () => {
  const data = join(folder, 'data');
  const args = [
    'run',
    '--silent',
    'pergola',
    '--',
    'up',
    join(folder, 'shop'),
    '--port',
    '0',
    '--data',
    data,
  ];
  const npm = await ready(spawn('npm', args));
  const pid = Number(readFileSync(join(data, 'up.pid'), 'utf8').split('\n')[0]);
  const children = childrenOf(pid);
  expect(npm.process.pid).not.toBe(pid);
  await kill(npm.process);
  await until(() => [{ pid }, ...children].every((each) => !isRunning(each.pid)));
  expect(existsSync(join(data, 'up.pid'))).toBe(false);

  const unread = await started();
  unread.process.stdout!.destroy();
  const exited = new Promise((resolve) => unread.process.once('exit', resolve));
  writeFileSync(join(folder, 'shop/broken.yaml'), 'kind: [');
  await exited;
  expect(existsSync(join(data, 'up.pid'))).toBe(false);
  expect(existsSync(join(data, 'postgres/data/postmaster.pid'))).toBe(false);
});

test('a database that does not exist is named while the engine waits for it, and Ctrl-C ends the wait', {
  timeout: TIMEOUT_MS,
}, async () => {
  const gone = await createDatabase();
  await gone.drop();
  const args = ['up', join(folder, 'shop'), '--port', '0', '--data', join(folder, 'data')];
  const child = spawn(process.execPath, ['bin/pergola.mjs', ...args, '--database-url', gone.url]);
  running.push(child);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await until(
    () => /^Waiting for the database: database "\w+" does not exist\.$/m.test(said),
    () => said,
  );
  const stoppedAt = performance.now();
  expect(await stop(child)).toBe(0);
  // The engine itself waits for most of a minute.
  expect(performance.now() - stoppedAt).toBeLessThan(20_000);
});

test('an invalid port is reported', { timeout: TIMEOUT_MS }, async () => {
  const { process: child, said } = await up('--port', 'many');
  expect([child.exitCode, said()]).toEqual([2, expect.stringContaining('--port many is no port')]);
});
