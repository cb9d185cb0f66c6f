import { createServer } from 'node:net';
import { expect, inject, test } from 'vitest';
import { openDatabase } from '../database/pool.ts';
import { nameOfDatabase, retryUntilReachable } from './connect.ts';

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

async function attemptOn(url: string, timeoutMs: number) {
  const attempts: string[] = [];
  const database = openDatabase(url, {});
  const outcome = await retryUntilReachable(() => database.query('select 1'), {
    name: nameOfDatabase(url),
    timeoutMs,
    onAttemptFailed: (_attempt, reason) => attempts.push(reason),
  }).catch((error: unknown) => error);
  await database.close();
  return { outcome, attempts };
}

test('reports every failed attempt and gives up with the address and the reason, without the password', async () => {
  const port = await closedPort();
  const { outcome, attempts } = await attemptOn(`postgres://someone:hunter2@127.0.0.1:${port}/meta`, 1500);
  expect(attempts.length).toBeGreaterThan(1);
  expect(attempts[0]).toContain('ECONNREFUSED');
  expect(outcome).toBeInstanceOf(Error);
  const { message } = outcome as Error;
  expect(message).toContain(`cannot reach the metadata database 127.0.0.1:${port}/meta`);
  expect(message).toContain('ECONNREFUSED');
  expect(message).not.toContain('hunter2');
});

test('waits for a database that comes later', async () => {
  let calls = 0;
  const outcome = await retryUntilReachable(
    async () => {
      calls++;
      if (calls < 3) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return 'here';
    },
    { name: 'x', timeoutMs: 5000, onAttemptFailed: () => {} },
  );
  expect([outcome, calls]).toEqual(['here', 3]);
});

test('does not retry permanent failures', async () => {
  const wrong = Object.assign(new Error('password authentication failed for user "x"'), { code: '28P01' });
  const attempts: number[] = [];
  const outcome = await retryUntilReachable(() => Promise.reject(wrong), {
    name: 'h/d',
    timeoutMs: 60_000,
    onAttemptFailed: (attempt) => attempts.push(attempt),
  }).catch((error: unknown) => error);
  expect(String(outcome)).toContain('cannot reach the metadata database h/d: password authentication failed');
  expect(attempts).toEqual([]);
});

test('rethrows an error that is not a connection failure', async () => {
  const url = inject('postgresUrl');
  const database = openDatabase(url, {});
  const outcome = await retryUntilReachable(() => database.query('select nonsense'), {
    name: 'x',
    timeoutMs: 60_000,
    onAttemptFailed: () => {},
  }).catch((error: unknown) => error);
  await database.close();
  expect(outcome).toMatchObject({ code: '42703' });
});
