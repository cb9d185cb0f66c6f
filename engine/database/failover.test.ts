/** Connections over a change of the primary: two real servers, of which one is a standby and is promoted. A standby that keeps its
 *  connections is a server whose sessions are read-only. Behaviour: docs/reference/behaviour/configuration.md, "Connections". */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { startTestEngine } from '../../testing/engine.ts';
import { connectTo, optionAddress } from './connect.ts';
import { type Database, openDatabase } from './pool.ts';

let folder: string;
let one: EmbeddedPostgres;
let two: EmbeddedPostgres;
const open: Database[] = [];

/** Starts a server and a standby of it, which is a copy of its files. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pergola-failover-'));
  // Servers run as another user under root.
  chmodSync(folder, 0o755);
  const first = join(folder, 'one');
  const second = join(folder, 'two');
  one = await startEmbeddedPostgres({ folder: first, isDurable: false });
  await on(one.url, 'create table item (id int primary key)');
  await one.stop();
  execFileSync('cp', ['-a', first, second]);
  one = await startEmbeddedPostgres({ folder: first, isDurable: false });
  const { port } = new URL(one.url);
  writeFileSync(join(second, 'data', 'standby.signal'), '');
  const settings = join(second, 'data', 'postgresql.auto.conf');
  const conninfo = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'\n`;
  writeFileSync(settings, readFileSync(settings, 'utf8') + conninfo);
  two = await startEmbeddedPostgres({ folder: second, isDurable: false });
}, 180_000);
afterAll(async () => {
  await Promise.allSettled([one?.stop(), two?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.close()));
});

async function on(url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

const hostOf = ({ url }: EmbeddedPostgres) => new URL(url).host;
const both = (attrs: string, more = '') =>
  `postgres://postgres@${hostOf(two)},${hostOf(one)}/postgres?target_session_attrs=${attrs}${more}`;
const PORT = { name: '', text: `select current_setting('port')` };
const insert = (id: number) => ({ name: '', text: `insert into item values (${id}) returning id::text` });

function opened(url: string): Database {
  const database = openDatabase(url, { maxConnections: 3 });
  open.push(database);
  return database;
}

/** Waits until connections are old enough for their server to have changed. */
const aged = () => new Promise((resolve) => setTimeout(resolve, 600));

test.each<[string, () => EmbeddedPostgres]>([
  ['any', () => two],
  ['read-write', () => one],
  ['primary', () => one],
  ['read-only', () => two],
  ['standby', () => two],
  ['prefer-standby', () => two],
])('target_session_attrs=%s chooses the server', async (attrs, wanted) => {
  for (const text of [both(attrs), `${both(attrs)}&load_balance_hosts=random`]) {
    if (attrs === 'any' && text.includes('random')) continue;
    const client = await connectTo(optionAddress(text), { applicationName: 'x', timeoutMs: 10_000 });
    const { rows } = await client.query(`select current_setting('port') as port`);
    await client.end();
    expect(rows[0].port).toBe(new URL(wanted().url).port);
  }
});

test('random order reaches both servers', async () => {
  const seen = new Set<string>();
  for (let i = 0; i < 40 && seen.size < 2; i++) {
    const client = await connectTo(optionAddress(both('any', '&load_balance_hosts=random')), {
      applicationName: 'x',
      timeoutMs: 10_000,
    });
    seen.add((await client.query(`select current_setting('port') as port`)).rows[0].port);
    await client.end();
  }
  expect(seen.size).toBe(2);
});

/** Makes the sessions that are open on a server read-only, and new ones too, as those of a standby. */
async function demote(url: string): Promise<void> {
  await on(url, `alter system set default_transaction_read_only = on`, 'select pg_reload_conf()');
  await expect
    .poll(
      async () => (await on(url, 'show default_transaction_read_only'))[0]!['default_transaction_read_only'],
    )
    .toBe('on');
  await aged();
}
const restore = (url: string) =>
  on(
    url,
    'set transaction read write',
    'alter system reset default_transaction_read_only',
    'select pg_reload_conf()',
  );

test('a server that refuses to write fails the write where any server is accepted, and is asked once', async () => {
  const database = opened(one.url);
  await database.run(PORT, []);
  await demote(one.url);
  await expect(database.run(insert(100), [])).rejects.toMatchObject({ code: '25006' });
  expect(database.counts.opened).toBe(1);
  await restore(one.url);
});

test('an engine follows the primary: a mutation of a role or an administrator, a transaction, run_sql', async () => {
  const url = both('read-write');
  const engine = await startTestEngine({ databaseUrl: url });
  try {
    await engine.admin('pg_track_table', { source: 'default', table: 'item' });
    const write = (id: number) => engine.graphql(`mutation { insert_item_one(object: {id: ${id}}) { id } }`);
    expect(await write(1)).toEqual({ data: { insert_item_one: { id: 1 } } });
    const database = opened(url);
    await Promise.all([1, 2, 3].map(() => database.run({ name: '', text: 'select pg_sleep(0.1)' }, [])));
    await expect
      .poll(async () => (await on(two.url, 'select count(*)::int as n from item'))[0]!['n'])
      .toBe(1);
    await aged();
    // The primary stops; its standby takes over.
    await one.stop();
    await on(two.url, 'select pg_promote()');
    expect(await write(2)).toEqual({ data: { insert_item_one: { id: 2 } } });
    expect(await database.run(insert(3), [])).toEqual(['3']);
    expect(await database.run(PORT, [])).toEqual([new URL(two.url).port]);
    const text = 'insert into item values (4)';
    await expect.poll(async () => (await engine.admin('run_sql', { sql: text })).status).toBe(200);
    expect(await on(two.url, 'select id from item order by id')).toEqual([1, 2, 3, 4].map((id) => ({ id })));
  } finally {
    await engine.close();
  }
});

test('a write that a demoted server refuses runs on the new primary, alone and as the first of a transaction', async () => {
  // The servers of a name: a proxy in front would be the same. The first one is demoted, the second one writes.
  const other = await startEmbeddedPostgres({ folder: join(folder, 'three'), isDurable: false });
  try {
    await on(other.url, 'create table item (id int primary key)');
    const url = `postgres://postgres@${hostOf(two)},${hostOf(other)}/postgres?target_session_attrs=read-write`;
    const database = opened(url);
    await Promise.all([1, 2, 3].map(() => database.run({ name: '', text: 'select pg_sleep(0.1)' }, [])));
    expect(await database.run(PORT, [])).toEqual([new URL(two.url).port]);
    await demote(two.url);
    const [single, transaction] = await Promise.all([
      database.run(insert(10), []),
      database.atomic({}, async (run) => {
        await run(insert(11), []);
        return run(insert(12), []);
      }),
    ]);
    expect([single, transaction]).toEqual([['10'], ['12']]);
    expect(await on(other.url, 'select id from item order by id')).toEqual(
      [10, 11, 12].map((id) => ({ id })),
    );
    expect(await database.run(PORT, [])).toEqual([new URL(other.url).port]);
    // A read-only transaction is the caller's own wish.
    await aged();
    const opens = database.counts.opened;
    const reading = database.atomic({ readOnly: true }, (run) => run(insert(13), []));
    await expect(reading).rejects.toMatchObject({ code: '25006' });
    expect(await database.run(PORT, [])).toEqual([new URL(other.url).port]);
    expect(database.counts.opened).toBe(opens);
  } finally {
    await other.stop();
  }
});
