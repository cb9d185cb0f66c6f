/** The limits of the counters in memory: counters of a role, coordinates of an operation, lengths of names. */
import { expect, test } from 'vitest';
import type { OperationUsage } from '../plan/coordinates.ts';
import { storedName, UsageCounts } from './usage-counts.ts';

/** The usage of a plan, as counters read it. */
function usageOf(coordinates: readonly string[], operationName: string | null = 'Op', role = 'reader') {
  const usage = { role, operationName, inDocument: new Set(coordinates), inVariables: [] };
  return usage as unknown as OperationUsage;
}

const many = (count: number) => Array.from({ length: count }, (_, i) => `author.f${i}`);

test('equal plans are one row, and the row has the sum', async () => {
  const counts = new UsageCounts();
  counts.count(usageOf(['author.id']), 'web');
  const [again, other] = [usageOf(['author.id']), usageOf(['author.name'])];
  counts.count(again, 'web');
  counts.count(again, 'ios');
  counts.count(other, 'web');
  const batch = (await counts.take())!;
  expect(batch.rows.map(({ client, requests }) => [client, requests])).toEqual([
    ['web', 2],
    ['ios', 1],
    ['web', 1],
  ]);
  expect([...batch.coordinateSets.values()]).toEqual([['author.id'], ['author.name']]);
});

test('what was not written is taken again with what has been counted since; what was written is not', async () => {
  const counts = new UsageCounts();
  const usage = usageOf(['author.id']);
  counts.count(usage, 'web');
  await counts.take();
  counts.count(usage, 'web');
  const second = (await counts.take())!;
  expect(second.rows).toMatchObject([{ requests: 2 }]);
  counts.written(second);
  expect(await counts.take()).toBeNull();
});

test('an operation with more than 1000 coordinates is not counted by name', async () => {
  const counts = new UsageCounts();
  counts.count(usageOf(many(1000)), '');
  counts.count(usageOf(many(1001)), '');
  const batch = (await counts.take())!;
  expect(batch.rows).toHaveLength(1);
  expect(batch.uncounted).toEqual(new Map([['reader', 1]]));
});

test('a role has 1000 counters, also while writes fail; other roles have their own', async () => {
  const counts = new UsageCounts();
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 600; i++) counts.count(usageOf(['author.id'], `Op${round * 600 + i}`), '');
    await counts.take();
  }
  const usage = usageOf(['author.id'], 'Admin', 'admin');
  for (let i = 0; i < 1500; i++) counts.count(usage, `client ${i}`);
  const batch = (await counts.take())!;
  const rows = Map.groupBy(batch.rows, ({ role }) => role);
  expect([rows.get('reader')?.length, rows.get('admin')?.length]).toEqual([1000, 1000]);
  expect(batch.uncounted).toEqual(
    new Map([
      ['reader', 800],
      ['admin', 500],
    ]),
  );
});

test('plans of one operation have counters of their own, up to the limit', async () => {
  const counts = new UsageCounts();
  for (let i = 0; i < 1500; i++) counts.count(usageOf(['author.id']), 'web');
  const batch = (await counts.take())!;
  expect(batch.rows).toMatchObject([{ requests: 1000 }]);
  expect(batch.uncounted).toEqual(new Map([['reader', 500]]));
});

test('names are cut, and characters that Postgres refuses are replaced', async () => {
  expect(storedName('a\u0000b\nc\u001b[1m\u202ed')).toBe('a\ufffdb\ufffdc\ufffd[1m\ufffdd');
  expect(storedName('x'.repeat(101))).toBe(`${'x'.repeat(100)}…`);
  expect(storedName(`${'x'.repeat(99)}😀`)).toBe(`${'x'.repeat(99)}\ufffd…`);
  const counts = new UsageCounts();
  counts.count(usageOf(['author.id']), '\ud800', 'books');
  expect((await counts.take())!.rows).toMatchObject([{ operation: 'rest:books', client: '\ufffd' }]);
});

test('names that a client invents do not displace what is used repeatedly', async () => {
  const counts = new UsageCounts();
  const invent = (count: number) => {
    for (let i = 0; i < count; i++) counts.count(usageOf(['author.id'], `Invented ${Math.random()}`), 'x');
  };
  invent(3000);
  const used = usageOf(['author.name'], 'Used');
  for (let i = 0; i < 50; i++) {
    counts.count(used, 'web');
    invent(60);
  }
  const batch = (await counts.take())!;
  const rows = batch.rows.filter(({ operation }) => operation === 'Used');
  expect(rows).toHaveLength(1);
  // A counter of one request may give way once or twice before the second request.
  expect(rows[0]!.requests).toBeGreaterThan(40);
  const total = batch.rows.reduce((sum, { requests }) => sum + requests, 0) + batch.uncounted.get('reader')!;
  expect([batch.rows.length, total]).toEqual([1000, 6050]);
});

test('rows that wait to be written give way to rows with more requests', async () => {
  const counts = new UsageCounts();
  for (let i = 0; i < 1000; i++) counts.count(usageOf(['author.id'], `Op${i}`), '');
  await counts.take();
  const used = usageOf(['author.name'], 'Used');
  for (let i = 0; i < 3; i++) counts.count(used, 'web');
  const batch = (await counts.take())!;
  expect(batch.rows).toHaveLength(1000);
  expect(batch.rows.find(({ operation }) => operation === 'Used')).toMatchObject({ requests: 3 });
  expect(batch.uncounted).toEqual(new Map([['reader', 1]]));
});

test('while writes fail, there are no more sets of coordinates than rows', async () => {
  const counts = new UsageCounts();
  for (let round = 1; round <= 4; round++) {
    for (let i = 0; i < 1000; i++) {
      const usage = usageOf([`author.f${round}_${i}`], `Op${round}_${i}`);
      for (let request = 0; request < round; request++) counts.count(usage, '');
    }
    const { rows, coordinateSets } = (await counts.take())!;
    expect(rows).toHaveLength(1000);
    expect(coordinateSets.size).toBe(1000);
  }
});
