/** Tests pool.ts and connection.ts with a real Postgres, often through a proxy that splits its stream. */
import '../../testing/seed.ts';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { ConnectionLost } from './connection.ts';
import { TimeIsUp } from './patience.ts';
import { TooManyWaiting, WaitedTooLong, WirePool, type WirePoolOptions } from './pool.ts';
import type { NamedStatement } from './statement.ts';
import { type CuttingProxy, openProxy } from './testing/proxy.ts';

let source: TestDatabase;
let proxy: CuttingProxy;
const open: WirePool[] = [];

beforeAll(async () => {
  source = await createDatabase();
  await source.sql(`create table item (id int primary key, name text);
    create function loud(text) returns text language plpgsql as $$ begin raise notice '%', repeat('n', 3000); return $1; end $$`);
  proxy = await openProxy(source.url);
});
afterAll(async () => {
  await proxy.close();
  await source.drop();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
  proxy.sizes = [];
  proxy.delayMs = 0;
  proxy.mostBytes = Number.POSITIVE_INFINITY;
});

function connectionTo(url: string): WirePoolOptions['connection'] {
  const { hostname: host, port, username: user, password, pathname } = new URL(url);
  const login = { user, password, database: pathname.slice(1) };
  return {
    servers: () => [{ host, port: Number(port), login }],
    tls: () => ({ mode: 'disable' }),
    timeoutMs: 15_000,
  };
}

function poolOf(options: Partial<WirePoolOptions> = {}, url = source.url): WirePool {
  const pool = new WirePool({
    connection: connectionTo(url),
    maxConnections: 4,
    idleTimeoutMs: 60_000,
    lifetimeMs: 0,
    waitMs: 0,
    isKept: true,
    ...options,
  });
  open.push(pool);
  return pool;
}

const once = (text: string): NamedStatement => ({ name: '', text });
const read = (name: string, text: string): NamedStatement => ({ name, text, isRead: true, mayShare: true });
/** Long enough for all connections that are opened to be used. */
const NAP = 'select pg_backend_pid(), pg_sleep(0.2)';
const PID = read('pid', 'select pg_backend_pid()');

/** A read that is known to be quick, however busy the machine is. */
function quick(name: string, text: string): NamedStatement {
  return Object.defineProperty(read(name, text), 'tookMs', { get: () => 0.01, set: () => {} });
}

const times = <T>(count: number, body: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => body(i));

test('every result belongs to its statement, however the stream is split', async () => {
  const pool = poolOf({ maxConnections: 2 }, proxy.url);
  const statement = quick('echo', `select $1::text || repeat('é', $2::int), $3::text`);
  const question = fc.record({ id: fc.nat(), length: fc.integer({ min: 0, max: 20_000 }) });
  const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(fc.array(question, { maxLength: 30 }), sizes, async (questions, pieces) => {
      proxy.sizes = pieces;
      const rows = await Promise.all(
        questions.map(({ id, length }) => pool.run(statement, [`${id}`, `${length}`, null])),
      );
      expect(rows.map(([first, second]) => [String(first), second])).toEqual(
        questions.map(({ id, length }) => [`${id}${'é'.repeat(length)}`, null]),
      );
    }),
    { numRuns: 60 },
  );
});

test('a row of 16 MB is received whole, as bytes', async () => {
  const pool = poolOf({}, proxy.url);
  const [column] = await pool.run(once(`select repeat('0123456789abcdef', 1 << 20)`), []);
  expect((column as Buffer).equals(Buffer.from('0123456789abcdef'.repeat(1 << 20)))).toBe(true);
});

test('a value of 16 MB is sent whole', async () => {
  const value = 'é'.repeat(8 << 20);
  expect(await poolOf().run(once('select length($1::text), md5($1::text)'), [value])).toEqual([
    String(8 << 20),
    (await source.sql(`select md5(repeat('é', 8 << 20)) as sum`))[0]!['sum'],
  ]);
});

test('notices and parameter reports between messages are ignored', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const rows = await Promise.all([
    pool.run(once(`select loud('a')`), []),
    pool.run(once(`select set_config('application_name', 'b', false)`), []),
    pool.run(once(`select loud('c')`), []),
  ]);
  expect(rows).toEqual([['a'], ['b'], ['c']]);
});

test('a warning of Citus that rows of the statement are missing is a failure', async () => {
  await source.sql(`
    create function incomplete() returns int language plpgsql as $$ begin
      raise warning 'Query could not find the intermediate result file "1_1", it was mostly likely deleted';
      return 0;
    end $$`);
  const pool = poolOf({ maxConnections: 1 });
  const failed = await pool.run(once('select incomplete()'), []).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: '01000', message: expect.stringMatching(/^Query could not find/) });
  expect(await pool.run(once('select 2'), [])).toEqual(['2']);
});

test('a server that dies in the middle of a message fails the statements in flight, and the next one runs', async () => {
  const pool = poolOf({ maxConnections: 1 }, proxy.url);
  await pool.run(once('select 1'), []);
  proxy.mostBytes = 500_000;
  const failed = await pool.run(once(`select repeat('x', 1000000)`), []).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ConnectionLost);
  proxy.mostBytes = Number.POSITIVE_INFINITY;
  expect(await pool.run(once('select 2'), [])).toEqual(['2']);
});

test('bytes outside the protocol end the connection, not the process', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const connection = await pool.take();
  const socket = (connection.client as unknown as { connection: { stream: NodeJS.EventEmitter } }).connection
    .stream;
  const failed = pool.runOn(connection, once('select 1'), []).catch((error: unknown) => error);
  socket.emit('data', Buffer.from([1, 0, 0, 0, 0, 0]));
  expect(await failed).toMatchObject({ message: 'no message is 0 bytes long' });
  pool.giveBack(connection, false);
  expect(await pool.run(once('select 2'), [])).toEqual(['2']);
});

test('quick reads share few connections, every other statement has its own', async () => {
  const pool = poolOf({ maxConnections: 8 });
  const pids = async (statement: NamedStatement) =>
    new Set((await Promise.all(times(8, () => pool.run(statement, [])))).flat());
  expect((await pids({ name: 'write', text: NAP })).size).toBeGreaterThan(7);
  expect((await pids(quick('quick', PID.text))).size).toBe(1);
  expect((await pids(read('slow', NAP))).size).toBeGreaterThan(7);
});

test('the duration of a statement is measured when it follows another', async () => {
  const pool = poolOf();
  const connection = await pool.take();
  const text = 'select pg_sleep($1::float8)';
  const runTwice = (statement: NamedStatement, seconds: string) =>
    Promise.all([1, 2].map(() => pool.runOn(connection, statement, [seconds])));
  // On a busy machine both answers may be read at once, and the second one seems to take no time.
  let slow = read('nap', text);
  for (let left = 40; left > 0 && !((slow.tookMs ?? 0) > 45); left--) {
    slow = read('nap', text);
    await pool.runOn(connection, slow, ['0.05']);
    expect(slow.tookMs).toBeUndefined();
    await runTwice(slow, '0.05');
  }
  expect(slow.tookMs).toBeGreaterThan(45);
  for (let left = 400; left > 0 && slow.tookMs! >= 20; left--) await runTwice(slow, '0');
  expect(slow.tookMs).toBeLessThan(20);
  pool.giveBack(connection, false);
});

test('an unknown statement sometimes follows another, to be measured', async () => {
  const pool = poolOf({ maxConnections: 8 });
  const statement = read('unknown', 'select 1');
  for (let i = 0; i < 20; i++) await Promise.all(times(8, () => pool.run(statement, [])));
  expect(statement.tookMs).toBeDefined();
});

test('statements in the queue still run when the pool closes', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const rows = Promise.all(times(3, (i) => pool.run(once(`select ${i} from pg_sleep(0.05)`), [])));
  await pool.close();
  expect(await rows).toEqual([['0'], ['1'], ['2']]);
});

/** Keeps statements under way for a time, each behind the one before. */
async function keepBusy(pool: WirePool, statement: NamedStatement, clients: number, ms: number) {
  const end = performance.now() + ms;
  const client = async () => {
    while (performance.now() < end) await pool.run(statement, []);
  };
  await Promise.all(times(clients, client));
}

test('statements that end soon wait for one of ten connections', async () => {
  const pool = poolOf({ maxConnections: 50 });
  // A busy machine opens them late.
  for (let tries = 0; tries < 50 && pool.counts.opened < 10; tries++)
    await keepBusy(pool, once('select 1'), 10, 100);
  expect(pool.counts.opened).toBe(10);
  const waits: Promise<unknown>[] = [];
  for (let turn = 0; turn < 20 && pool.counts.opened === 10; turn++) {
    waits.push(...times(16, () => pool.run(once('select 1'), [])));
    // None has waited for long in the turn in which it was sent.
    expect(pool.counts.opened + pool.state.opening).toBe(10);
    await Promise.all(waits.splice(0));
  }
});

test('a statement that has waited gets a connection, if those before it take long', async () => {
  const pool = poolOf({ maxConnections: 50 });
  const began = performance.now();
  const pids = await Promise.all(times(30, () => pool.run(once('select pg_backend_pid(), pg_sleep(2)'), [])));
  expect(new Set(pids.map(([pid]) => pid)).size).toBe(30);
  expect(performance.now() - began).toBeLessThan(3800);
});

test('transactions get connections at once', async () => {
  const pool = poolOf({ maxConnections: 30 });
  const taken = await Promise.all(times(30, () => pool.take()));
  expect(pool.counts.opened).toBe(30);
  for (const connection of taken) pool.giveBack(connection, false);
});

test('the failure of one statement does not affect those sent with it', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const divide = quick('divide', 'select 12 / $1::int');
  await pool.run(divide, ['1']);
  const outcomes = await Promise.allSettled([3, 0, 4].map((by) => pool.run(divide, [String(by)])));
  expect(outcomes).toMatchObject([
    { value: ['4'] },
    { reason: { code: '22012', message: 'division by zero' } },
    { value: ['3'] },
  ]);
});

test('a stalled statement is cancelled for those behind it, and runs again alone', async () => {
  const pool = poolOf({ maxConnections: 2 });
  const nap = quick('nap', 'select pg_sleep($1::float8)::text || $2::text');
  await pool.run(nap, ['0', '']);
  const start = performance.now();
  const stalled = pool.run(nap, ['3', 'slow']);
  const followers = times(5, (i) => pool.run(nap, ['0', String(i)]));
  expect(await Promise.all(followers)).toEqual(times(5, (i) => [String(i)]));
  expect(performance.now() - start).toBeLessThan(2500);
  expect(await stalled).toEqual(['slow']);
  expect(await pool.run(nap, ['0', 'after'])).toEqual(['after']);
});

test('a statement that took long is not followed until it is known to be quick again', async () => {
  const pool = poolOf({ maxConnections: 3 });
  const nap = read('nap', 'select pg_backend_pid() from (select pg_sleep($1::float8)) as slept');
  nap.tookMs = 0.01;
  await Promise.all(times(3, () => pool.run(once(NAP), [])));
  const stalled = pool.run(nap, ['3']);
  await pool.run(nap, ['0']);
  expect(nap.tookMs).toBeGreaterThan(200);
  const pids = await Promise.all([stalled, ...times(2, () => pool.run(nap, ['0.1']))]);
  expect(new Set(pids.flat()).size).toBe(3);
});

/** Ways to slow Postgres down. Each returns a function that undoes it. */
const SLOW: readonly [name: string, slowDown: () => Promise<() => Promise<unknown>>][] = [
  [
    'every answer takes 100 ms more',
    async () => {
      proxy.delayMs = 100;
      return async () => {
        proxy.delayMs = 0;
      };
    },
  ],
  [
    'every core has other work',
    async () => {
      const busy = times(2 * availableParallelism(), () =>
        spawn(process.execPath, ['-e', 'setTimeout(process.exit, 20000); for (;;) Date.now() > 0']),
      );
      return async () => {
        for (const child of busy) child.kill('SIGKILL');
      };
    },
  ],
  [
    'a table is locked',
    async () => {
      const pool = poolOf({ maxConnections: 1 });
      const connection = await pool.take();
      const client = connection.lend();
      await client.query('begin; lock table item');
      const unlocked = sleep(2500).then(() => client.query('commit'));
      return async () => {
        await unlocked;
        pool.giveBack(connection, false);
      };
    },
  ],
];

test.each(SLOW)('every statement runs once although %s', async (_, slowDown) => {
  await source.sql('create sequence runs');
  onTestFinished(() => source.sql('drop sequence runs').then(() => {}));
  const pool = poolOf({ maxConnections: 4 }, proxy.url);
  // A sequence counts what runs to its end, also where nothing is kept. A run that waits for a lock has not begun.
  const counting = quick('count', `select nextval('runs')`);
  const locked = quick('count locked', `select nextval('runs') from (select count(*) from item) as waited`);
  await Promise.all(times(4, () => pool.run(once(NAP), [])));
  const undo = await slowDown();
  const clients = times(16, async (i) => {
    for (let n = 0; n < 20; n++) await pool.run((i + n) % 8 === 0 ? locked : counting, []);
  });
  await Promise.all(clients);
  await undo();
  expect(await source.sql('select last_value::int from runs')).toEqual([{ last_value: 320 }]);
});

test('a statement the server has dropped is prepared again', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const statement: NamedStatement = { name: 'kept', text: 'select $1::int' };
  await pool.run(statement, ['1']);
  await pool.run(once('deallocate all'), []);
  expect(await pool.run(statement, ['2'])).toEqual(['2']);
});

test('a statement whose table has changed is prepared again', async () => {
  const pool = poolOf({ maxConnections: 1 });
  await source.sql('create table shape (a int); insert into shape values (1)');
  const statement = read('shape', 'select * from shape');
  expect(await pool.run(statement, [])).toEqual(['1']);
  await source.sql('alter table shape add b text');
  expect(await Promise.all([pool.run(statement, []), pool.run(statement, [])])).toEqual([
    ['1', null],
    ['1', null],
  ]);
});

test('a statement that cannot be parsed leaves no name behind', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const statement: NamedStatement = { name: 'late', text: 'select 1 from comes_later' };
  await expect(pool.run(statement, [])).rejects.toMatchObject({ code: '42P01' });
  await source.sql('create table comes_later as select 1');
  expect(await pool.run(statement, [])).toEqual(['1']);
});

test('a taken connection is not shared until it is given back', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const connection = await pool.take();
  const waiting = pool.run(quick('q', 'select 1'), []);
  const begun = connection.command('begin');
  await pool.runOn(connection, once('insert into item values (1)'), []);
  await Promise.all([begun, connection.command('rollback')]);
  pool.giveBack(connection, false);
  expect(await waiting).toEqual(['1']);
  expect(await source.sql('select * from item')).toEqual([]);
});

test('the driver uses the connection only while it is lent', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const pid = await pool.run(once(PID.text), []);
  const connection = await pool.take();
  const { rows } = await connection.lend().query('select pg_backend_pid() as pid');
  expect([String(rows[0].pid)]).toEqual(pid);
  pool.giveBack(connection, false);
  expect(await pool.run(once(PID.text), [])).toEqual(pid);
});

test('a wait for a connection times out, and the next in the queue are served', async () => {
  const pool = poolOf({ maxConnections: 1, waitMs: 700 });
  const connection = await pool.take();
  await expect(pool.run(once('select 1'), [])).rejects.toThrow(WaitedTooLong);
  const later = pool.run(once('select 2'), []);
  pool.giveBack(connection, false);
  expect(await later).toEqual(['2']);
});

test('every statement gets the error of an unreachable database', async () => {
  const pool = poolOf({}, 'postgres://postgres@127.0.0.1:1/none');
  const outcomes = await Promise.allSettled(times(6, () => pool.run(once('select 1'), [])));
  expect(outcomes.map(({ status }) => status)).toEqual(times(6, () => 'rejected'));
  expect(outcomes).toMatchObject(times(6, () => ({ reason: { code: 'ECONNREFUSED' } })));
});

/** Returns the URL of a user with a maximum number of connections. */
async function limitedUrl(most: number): Promise<string> {
  const name = `limited_${randomUUID().replaceAll('-', '')}`;
  await source.sql(`create role ${name} login password 'secret' connection limit ${most}`);
  onTestFinished(() => source.sql(`drop role ${name}`).then(() => {}));
  const url = new URL(source.url);
  [url.username, url.password] = [name, 'secret'];
  return url.href;
}

test('when the server has no connection left, statements wait for those of the pool', async () => {
  const pool = poolOf({ maxConnections: 20 }, await limitedUrl(3));
  const rows = await Promise.all(
    times(300, (i) => pool.run(once(`select ${i}, pg_sleep(case when ${i} < 20 then 0.1 else 0 end)`), [])),
  );
  expect(rows.map(([first]) => Number(first))).toEqual(times(300, (i) => i));
  expect(pool.state.active + pool.state.idle).toBe(3);
  await pool.close();
});

test('a pool whose only connection is refused gets one as soon as possible', async () => {
  const url = await limitedUrl(1);
  const [first, second] = [poolOf({}, url), poolOf({ waitMs: 10_000 }, url)];
  const connection = await first.take();
  const waiting = second.run(once('select 1'), []);
  await expect.poll(() => second.counts.failedToOpen).toBeGreaterThan(1);
  first.giveBack(connection, true);
  expect(await waiting).toEqual(['1']);
  await Promise.all([first.close(), second.close()]);
});

test('a pool without any connection reports that when the wait is over', async () => {
  const url = await limitedUrl(1);
  const [first, second] = [poolOf({}, url), poolOf({ waitMs: 200 }, url)];
  const connection = await first.take();
  await expect(second.run(once('select 1'), [])).rejects.toThrow(WaitedTooLong);
  first.giveBack(connection, false);
  await Promise.all([first.close(), second.close()]);
});

test('the number of waiting statements is limited', async () => {
  const pool = poolOf({ maxConnections: 1, maxWaiting: 2 });
  const connection = await pool.take();
  const waiting = times(2, () => pool.run(once('select 1'), []));
  await expect(pool.run(once('select 1'), [])).rejects.toThrow(TooManyWaiting);
  pool.giveBack(connection, false);
  expect(await Promise.all(waiting)).toEqual([['1'], ['1']]);
});

const running = async (mark: string, since: unknown = '-infinity') =>
  (
    await source.sql(
      `select 1 from pg_stat_activity
        where state = 'active' and query like $1 and query_start > $2 and pid <> pg_backend_pid()`,
      [`%/* ${mark} */%`, since],
    )
  ).length;
const gone = new Error('gone');

test('a statement whose caller has gone is cancelled, and its connection reused', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const [pid] = await pool.run(once(PID.text), []);
  const client = new AbortController();
  const slow = pool.run(once('select pg_sleep(60) /* unwanted */'), [], { signal: client.signal });
  await expect.poll(() => running('unwanted')).toBe(1);
  client.abort(gone);
  await expect(slow).rejects.toBe(gone);
  expect(await pool.run(once(PID.text), [])).toEqual([pid]);
  expect(await running('unwanted')).toBe(0);
});

test('a statement that exceeds its time limit is cancelled', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const slow = pool.run(once('select pg_sleep(60)'), [], { limitMs: 100 });
  await expect(slow).rejects.toThrow(TimeIsUp);
  expect(await pool.run(once('select 1'), [], { limitMs: 60_000 })).toEqual(['1']);
});

test('a queued statement whose caller has gone is not sent', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const connection = await pool.take();
  const client = new AbortController();
  const write = pool.run(once('insert into item values (77)'), [], { signal: client.signal });
  const taken = pool.take(0, client.signal);
  client.abort(gone);
  await expect(write).rejects.toBe(gone);
  await expect(taken).rejects.toBe(gone);
  await expect(pool.run(once('insert into item values (77)'), [], { signal: client.signal })).rejects.toBe(
    gone,
  );
  expect(pool.state.waiting).toBe(0);
  pool.giveBack(connection, false);
  expect(await pool.run(once('select count(*) from item where id = 77'), [])).toEqual(['0']);
});

test('cancelling one statement never fails others on its connection', async () => {
  const pool = poolOf({ maxConnections: 2 });
  const failures: unknown[] = [];
  const work = async (i: number) => {
    for (let n = 0; n < 20; n++) {
      const client = new AbortController();
      const isDropped = (i + n) % 3 === 0;
      const text = isDropped ? `select ${n}, pg_sleep(0.05)` : `select ${n}`;
      const answer = pool.run(quick(`s${text}`, text), [], { signal: client.signal });
      if (isDropped) setTimeout(() => client.abort(gone), 21 + ((i * 7 + n * 3) % 30));
      await answer.then(
        (row) => expect(row[0]).toBe(String(n)),
        (error: unknown) => error !== gone && failures.push(error),
      );
    }
  };
  await Promise.all(times(8, work));
  expect(failures).toEqual([]);
});

test('a slow statement is cancelled when its caller leaves, with others behind it, and those still run', async () => {
  const pool = poolOf({ maxConnections: 1 });
  const client = new AbortController();
  const slow = pool
    .run(quick('slow', 'select pg_sleep(60) /* behind */'), [], { signal: client.signal })
    .catch((error: unknown) => error);
  const behind = times(3, (i) => pool.run(quick(`after ${i}`, `select ${i}`), []));
  await expect.poll(() => running('behind')).toBe(1);
  client.abort(gone);
  expect(await Promise.all(behind)).toEqual(times(3, (i) => [String(i)]));
  expect([await slow, await running('behind')]).toEqual([gone, 0]);
});

test('the statement on a taken connection is cancelled, also one of the driver', async () => {
  const pool = poolOf({ maxConnections: 1 });
  for (const isLent of [false, true]) {
    const connection = await pool.take();
    const client = new AbortController();
    const watch = pool.watchOver(connection, { signal: client.signal });
    const slow = isLent
      ? connection.lend().query('select pg_sleep(60) /* taken */')
      : pool.runOn(connection, once('select pg_sleep(60) /* taken */'), []);
    const failed = expect(slow).rejects.toMatchObject({ code: '57014' });
    await expect.poll(() => running('taken')).toBe(1);
    client.abort(gone);
    await failed;
    expect(watch.reason).toBe(gone);
    watch.end();
    pool.giveBack(connection, false);
    expect(await pool.run(once('select 1'), [])).toEqual(['1']);
  }
});

test('a connection whose driver failed is reused only when the server is ready', async () => {
  proxy.sizes = [1];
  const pool = poolOf({ maxConnections: 1 }, proxy.url);
  for (let n = 0; n < 20; n++) {
    const connection = await pool.take();
    await expect(connection.lend().query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    pool.giveBack(connection, false);
    expect(await pool.run(once(`select ${n}`), [])).toEqual([String(n)]);
  }
});

test('idle connections are closed, old ones replaced', async () => {
  const pool = poolOf({ idleTimeoutMs: 100, maxConnections: 3 });
  const old = poolOf({ lifetimeMs: 100, maxConnections: 1 });
  const alive = async (pids: readonly unknown[]) =>
    (await source.sql('select pid from pg_stat_activity where pid = any($1::int[])', [pids])).length;
  const rows = await Promise.all([...times(3, () => pool.run(once(NAP), [])), old.run(once(NAP), [])]);
  const pids = rows.map(([pid]) => pid);
  expect(await alive(pids)).toBe(4);
  await expect.poll(() => alive(pids), { timeout: 5000 }).toBe(0);
  expect(await pool.run(once('select 1'), [])).toEqual(['1']);
});

test('closing waits for statements in flight', async () => {
  const pool = poolOf();
  const running = pool.run(once(`select 'done' from pg_sleep(0.2)`), []);
  await pool.run(once('select 1'), []);
  await pool.close();
  expect(await Promise.race([running, 'not yet'])).toEqual(['done']);
  await expect(pool.run(once('select 1'), [])).rejects.toThrow('closed');
});

test('closing waits for a silent database until it is cut off', async () => {
  const pool = poolOf({ maxConnections: 1 }, proxy.url);
  await pool.run(once('select 1'), []);
  proxy.isSilent = true;
  onTestFinished(() => {
    proxy.isSilent = false;
  });
  const lost = [pool.run(once('select 2'), []), pool.run(once('select 3'), []), pool.take()].map((asked) =>
    expect(asked).rejects.toThrow(ConnectionLost),
  );
  const cut = new AbortController();
  let isClosed = false;
  const closed = pool.close(cut.signal).then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isClosed).toBe(false);
  cut.abort();
  await Promise.all([closed, ...lost]);
  await pool.close(cut.signal);
});

test('without prepared statements, nothing is prepared and nothing shared', async () => {
  const pool = poolOf({ isKept: false, maxConnections: 8 });
  const rows = await Promise.all(times(8, () => pool.run(quick('q', NAP), [])));
  expect(new Set(rows.map(([pid]) => pid)).size).toBe(8);
  const count = once(`select count(*) from pg_prepared_statements where name <> ''`);
  expect(await Promise.all(times(8, () => pool.run(count, [])))).toEqual(times(8, () => ['0']));
});
