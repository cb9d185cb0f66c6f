/** The counts of usage in the metadata database: writers at the same time, and the limits of the tables. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import { Store } from './store.ts';
import { addUsage, pruneUsage, type UsageBatch, usageTotals, usedOperations } from './usage.ts';

const LIMITS = { rowsPerRole: 100, setsPerRole: 100 };

const database = testDatabase();
let pool: Database;

beforeAll(async () => {
  pool = openDatabase(database.url, { maxConnections: 10 });
  await new Store(pool).migrate();
});
beforeEach(() =>
  database.sql('truncate pergola.coordinate_set, pergola.operation_usage, pergola.uncounted_usage'),
);
afterAll(() => pool?.close());

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
  await Promise.all([...writes, ...Array.from({ length: 10 }, () => pruneUsage(pool, 1, LIMITS))]);
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

/** A batch with so many requests of each operation. */
function batchWith(requests: number, operations: readonly string[], role?: string): UsageBatch {
  const batch = batchOf(operations, role);
  return { ...batch, rows: batch.rows.map((row) => ({ ...row, requests })) };
}

const setsOf = () => database.sql('select id from pergola.coordinate_set order by id');

/** Moves all counts to so many days earlier. */
const age = (days: number) => database.sql(`update pergola.operation_usage set day = day - ${days}`);

test('every set of coordinates belongs to a row that is stored', async () => {
  const limits = { ...LIMITS, rowsPerRole: 5 };
  for (let i = 0; i < 10; i++)
    await addUsage(
      pool,
      batchWith(
        i + 1,
        names(20).map((name) => `${name}_${i}`),
      ),
      limits,
    );
  await addUsage(pool, batchOf(['Op0_9'], 'other'), limits);
  await addUsage(pool, batchWith(99, names(5)), limits);
  const used = await database.sql(
    'select distinct coordinate_set as id from pergola.operation_usage order by 1',
  );
  expect(await setsOf()).toEqual(used);
  expect(used).toHaveLength(6);
});

test.each([1, 7])(
  'a role that invents sets, %i at a time, does not concern those of another role',
  async (size) => {
    const limits = { rowsPerRole: 5, setsPerRole: 10 };
    for (let i = 0; i < 40; i++) {
      await addUsage(
        pool,
        batchOf(
          names(size).map((name) => `${name}_${i}`),
          'stranger',
        ),
        limits,
      );
      await age(i % 4 === 0 ? 1 : 0);
      await pruneUsage(pool, 100, limits);
    }
    expect(await addUsage(pool, batchOf(names(5)), limits)).toBe(0);
    await pruneUsage(pool, 100, limits);
    expect(await usedOperations(pool, { days: 100, role: 'reader' }, 100)).toHaveLength(5);
    expect((await setsOf()).length).toBeLessThanOrEqual(5 + limits.setsPerRole);
  },
);

test('over all days a role keeps its sets with the most requests, and the others are uncounted on their day', async () => {
  const limits = { rowsPerRole: 5, setsPerRole: 4 };
  for (let day = 0; day < 4; day++) {
    await addUsage(pool, batchWith(2, ['Used', 'Other']), limits);
    await addUsage(pool, batchOf(names(3).map((name) => `${name}_${day}`)), limits);
    expect(await pruneUsage(pool, 100, limits)).toBe(day === 0 ? 1 : 3);
    if (day < 3) await age(1);
  }
  const found = await usedOperations(pool, { days: 100 }, 100);
  expect(found.slice(0, 2).map(({ operation, requests }) => [operation, requests])).toEqual([
    ['Other', 8],
    ['Used', 8],
  ]);
  expect(found).toHaveLength(4);
  const counted = found.reduce((sum, { requests }) => sum + requests, 0);
  expect(counted + (await usageTotals(pool, 100)).uncounted[0]!.requests).toBe(4 * 7);
  expect(await pruneUsage(pool, 100, limits)).toBe(0);
});
