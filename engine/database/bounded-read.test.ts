/** Tests that reading a log ends although the database says nothing at all. Statements that Postgres ends are in end-to-end/recent-activity.test.ts. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { boundedRead } from './bounded-read.ts';
import { openDatabase } from './pool.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

test('a database that accepts and never answers is not waited for', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const database = openDatabase(`postgres://app:a@127.0.0.1:${port}/app?sslmode=disable`);
  open.push(() => database.close(AbortSignal.abort()));
  const started = performance.now();
  await expect(boundedRead(database, (client) => client.query('select 1'), 100)).rejects.toMatchObject({
    ...{ kind: 'timeLimitExceeded', message: 'time limit exceeded: the operation took longer than 0.1 s' },
  });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('a statement at the limit is ended by Postgres, whose words are those of the error', async () => {
  const own = await createDatabase();
  const database = openDatabase(own.url);
  open.push(own.drop, () => database.close());
  const slow = boundedRead(database, (client) => client.query('select pg_sleep(20)'), 100);
  await expect(slow).rejects.toMatchObject({ code: '57014' });
  const { rows } = await boundedRead(database, (client) => client.query('select 1 as one'));
  expect(rows).toEqual([{ one: 1 }]);
});
