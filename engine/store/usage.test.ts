/** The counts of usage in the metadata database: writers at the same time, and the limits of the tables. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import { Store } from './store.ts';
import { addUsage, pruneUsage, type UsageBatch, usageTotals, usedOperations } from './usage.ts';

const LIMITS = { rowsPerRole: 100, coordinateSets: 100 };

let database: TestDatabase;
let pool: Database;

beforeAll(async () => {
  database = await createDatabase();
  pool = openDatabase(database.url, { maxConnections: 10 });
  await new Store(pool).migrate();
});
beforeEach(() =>
  database.sql('truncate pergola.coordinate_set, pergola.operation_usage, pergola.uncounted_usage'),
);
afterAll(async () => {
  await pool?.close();
  await database?.drop();
});

/** A batch with one request of each operation, whose coordinates are its own. */
function batchOf(operations: readonly string[], role = 'reader'): UsageBatch {
  const rows = operations.map((operation) => ({
    ...{ role, operation, client: 'web', coordinateSet: `set of ${operation}`, requests: 1 },
  }));
  const sets = rows.map(({ coordinateSet, operation }) => [coordinateSet, [`author.${operation}`]] as const);
  return { rows, coordinateSets: new Map(sets), uncounted: new Map() };
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `Op${i}`);

test('replicas that write the same operations in any order never fail, and lose nothing', async () => {
  const orders = [names(40), names(40).reverse()];
  const writes = Array.from({ length: 40 }, (_, i) => addUsage(pool, batchOf(orders[i % 2]!), LIMITS));
  await Promise.all([...writes, ...Array.from({ length: 10 }, () => pruneUsage(pool, 1))]);
  const found = await usedOperations(pool, { days: 1 }, 100);
  expect(found.map(({ requests }) => requests)).toEqual(names(40).map(() => 40));
});

test('new rows of a role beyond its limit are uncounted; known ones are still added to', async () => {
  expect(await addUsage(pool, batchOf(names(8)), { ...LIMITS, rowsPerRole: 5 })).toBe(3);
  expect(await addUsage(pool, batchOf(names(8), 'other'), { ...LIMITS, rowsPerRole: 8 })).toBe(0);
  expect(await addUsage(pool, batchOf(names(8)), { ...LIMITS, rowsPerRole: 5 })).toBe(3);
  const found = await usedOperations(pool, { days: 1, role: 'reader' }, 100);
  expect(found.map(({ requests }) => requests)).toEqual([2, 2, 2, 2, 2]);
  expect((await usageTotals(pool, 1)).uncounted).toMatchObject([{ role: 'reader', requests: 6 }]);
});

test('rows with more requests displace those with fewer, whose requests are uncounted', async () => {
  const limits = { ...LIMITS, rowsPerRole: 5 };
  await addUsage(pool, batchOf(['Op0']), limits);
  expect(await addUsage(pool, batchOf(names(8)), limits)).toBe(3);
  const used = batchOf(['Used']);
  const many = { ...used, rows: used.rows.map((row) => ({ ...row, requests: 3 })) };
  expect(await addUsage(pool, many, limits)).toBe(1);
  expect(await addUsage(pool, batchOf(['Invented']), limits)).toBe(1);
  const found = await usedOperations(pool, { days: 1, role: 'reader' }, 100);
  expect(found.map(({ operation, requests }) => `${operation} ${requests}`).sort()).toEqual([
    'Op0 2',
    'Op1 1',
    'Op2 1',
    'Op3 1',
    'Used 3',
  ]);
  expect((await usageTotals(pool, 1)).uncounted).toMatchObject([{ role: 'reader', requests: 5 }]);
});

test('operations whose coordinates do not fit are uncounted', async () => {
  expect(await addUsage(pool, batchOf(names(8)), { ...LIMITS, coordinateSets: 5 })).toBe(3);
  expect(await addUsage(pool, batchOf(['Late']), { ...LIMITS, coordinateSets: 5 })).toBe(1);
  expect(await usedOperations(pool, { days: 1 }, 100)).toHaveLength(5);
  expect(await database.sql('select count(*)::int from pergola.coordinate_set')).toEqual([{ count: 5 }]);
});
