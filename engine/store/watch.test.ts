import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import type { Versions } from './document.ts';
import { Store } from './store.ts';
import { type MetadataWatch, watchMetadata } from './watch.ts';

let database: TestDatabase;
let pools: Database[];
let watches: MetadataWatch[];

beforeEach(async () => {
  database = await createDatabase();
  pools = [];
  watches = [];
  await open().migrate();
});
afterEach(async () => {
  await Promise.all(watches.map((watching) => watching.close()));
  await Promise.all(pools.map((pool) => pool.close()));
  await database.drop();
});

function open(): Store {
  const pool = openDatabase(database.url, { maxConnections: 2 });
  pools.push(pool);
  return new Store(pool);
}

async function watchFrom(store: Store, pollIntervalMs: number) {
  const seen: Versions[] = [];
  const interruptions: string[] = [];
  watches.push(
    await watchMetadata({
      url: database.url,
      store,
      pollIntervalMs,
      retryMs: 20,
      onChange: (versions) => seen.push(versions),
      onInterruption: (reason) => interruptions.push(reason),
    }),
  );
  seen.length = 0;
  return { seen, interruptions };
}

const killListeners = () =>
  database.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pergola watch'`,
  );

test('reports another replica’s write immediately, without polling', async () => {
  const { seen } = await watchFrom(open(), 0);
  await open().save({ touchResource: true }, 1);
  await vi.waitFor(() => expect(seen).toContainEqual({ resource: 2, catalog: 1, state: 1, values: 1 }), {
    timeout: 900,
    interval: 5,
  });
});

test('does not report its own writes', async () => {
  const store = open();
  const { seen } = await watchFrom(store, 0);
  await store.save({ touchResource: true }, 1);
  await open().save({ touchResource: true }, 2);
  await vi.waitFor(() => expect(seen.length).toBeGreaterThan(0), { timeout: 900, interval: 5 });
  expect(seen).toEqual([{ resource: 3, catalog: 1, state: 1, values: 1 }]);
});

test('listens again after its connection was cut, and reports missed writes', async () => {
  const { seen, interruptions } = await watchFrom(open(), 0);
  await killListeners();
  await vi.waitFor(() => expect(interruptions.length).toBeGreaterThan(0), { timeout: 2000, interval: 5 });
  await open().save({ touchResource: true }, 1);
  await vi.waitFor(() => expect(seen).toContainEqual(expect.objectContaining({ resource: 2 })), {
    timeout: 2000,
    interval: 5,
  });
  await open().save({ touchResource: true }, 2);
  await vi.waitFor(() => expect(seen).toContainEqual(expect.objectContaining({ resource: 3 })), {
    timeout: 2000,
    interval: 5,
  });
});

test('finds a write without a notification by polling', async () => {
  const { seen } = await watchFrom(open(), 50);
  await database.sql('update pergola.metadata set resource_version = 7');
  await vi.waitFor(() => expect(seen).toContainEqual(expect.objectContaining({ resource: 7 })), {
    timeout: 1000,
    interval: 5,
  });
});
