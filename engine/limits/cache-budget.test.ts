/** Tests the budget of caches: its limit, what is removed first, and the end of a cache. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Cache, CacheBudget, cacheBytes } from './cache-budget.ts';

const MB = 2 ** 20;

describe('a budget', () => {
  test('removes the value that was not used for longest, of whichever cache', () => {
    const budget = new CacheBudget(3);
    const [one, other] = [
      new Cache<string, number>('one', budget),
      new Cache<string, number>('other', budget),
    ];
    one.set('a', 1, { bytes: 1, milliseconds: 1 });
    other.set('a', 2, { bytes: 1, milliseconds: 1 });
    one.set('b', 3, { bytes: 1, milliseconds: 1 });
    expect(one.get('a')).toBe(1);
    one.set('c', 4, { bytes: 1, milliseconds: 1 });
    expect([one.get('a'), other.get('a'), one.get('b'), one.get('c')]).toEqual([1, undefined, 3, 4]);
  });

  test('keeps an old value that saves more time per byte than a newer one', () => {
    const budget = new CacheBudget(20);
    const cache = new Cache<string, number>('plans', budget);
    cache.set('costly', 1, { bytes: 10, milliseconds: 100 });
    cache.set('cheap', 2, { bytes: 10, milliseconds: 1 });
    cache.set('new', 3, { bytes: 10, milliseconds: 1 });
    expect([cache.get('costly'), cache.get('cheap'), cache.get('new')]).toEqual([1, undefined, 3]);
  });

  test('compares only the values that were not used for longest', () => {
    const budget = new CacheBudget(10);
    const cache = new Cache<number, number>('plans', budget);
    for (let i = 0; i < 10; i++) cache.set(i, i, { bytes: 1, milliseconds: i < 8 ? 2 : 1 });
    cache.set(10, 10, { bytes: 1, milliseconds: 1 });
    expect(cache.get(0)).toBeUndefined();
    expect([8, 9, 10].map((key) => cache.get(key))).toEqual([8, 9, 10]);
  });

  test('caches no value that is larger than itself, and removes none for it', () => {
    const budget = new CacheBudget(10);
    const cache = new Cache<string, number>('plans', budget);
    cache.set('a', 1, { bytes: 5, milliseconds: 1 });
    cache.set('b', 2, { bytes: 11, milliseconds: 100 });
    expect([cache.get('a'), cache.get('b'), budget.bytes]).toEqual([1, undefined, 5]);
  });

  test('counts values and bytes for each kind of cache', () => {
    const budget = new CacheBudget(10);
    new Cache<string, number>('plans', budget).set('a', 1, { bytes: 5, milliseconds: 1 });
    new Cache<string, number>('plans', budget).set('a', 1, { bytes: 4, milliseconds: 1 });
    new Cache<string, number>('documents', budget).set('a', 1, { bytes: 3, milliseconds: 1 });
    expect(Object.fromEntries(budget.sizes)).toEqual({
      plans: { entries: 1, bytes: 4 },
      documents: { entries: 1, bytes: 3 },
    });
  });

  test('is never exceeded, and counts what the caches hold', () => {
    const weight = fc.record({
      bytes: fc.integer({ min: 1, max: 40 }),
      milliseconds: fc.integer({ min: 1, max: 9 }),
    });
    const step = fc.record({
      cache: fc.nat(2),
      key: fc.nat(5),
      weight,
      kind: fc.constantFrom('set', 'get', 'end'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = new CacheBudget(100);
        const caches = [0, 1, 2].map((i) => new Cache<number, number>(`kind ${i}`, budget));
        for (const { cache, key, weight, kind } of steps) {
          if (kind === 'set') caches[cache]!.set(key, weight.bytes, weight);
          if (kind === 'end' && cache === 0) caches[cache]!.end();
          if (kind === 'get') caches[cache]!.get(key);
          expect(budget.bytes).toBeLessThanOrEqual(100);
        }
        const held = caches.flatMap((cache) => [0, 1, 2, 3, 4, 5].map((key) => cache.get(key) ?? 0));
        expect(budget.bytes).toBe(held.reduce((sum, bytes) => sum + bytes, 0));
      }),
    );
  });
});

describe('a cache', () => {
  test('replaces a value and its weight', () => {
    const budget = new CacheBudget(10);
    const cache = new Cache<string, number>('plans', budget);
    cache.set('a', 1, { bytes: 9, milliseconds: 1 });
    cache.set('a', 2, { bytes: 2, milliseconds: 1 });
    expect([cache.get('a'), budget.bytes]).toEqual([2, 2]);
  });

  test('that has ended holds nothing, and takes nothing', () => {
    const budget = new CacheBudget(10);
    const cache = new Cache<string, number>('plans', budget);
    cache.set('a', 1, { bytes: 1, milliseconds: 1 });
    cache.end();
    cache.set('b', 2, { bytes: 1, milliseconds: 1 });
    expect([cache.get('a'), cache.get('b'), budget.bytes]).toEqual([undefined, undefined, 0]);
  });

  test('with a limit of its own removes its own oldest values', () => {
    const budget = new CacheBudget(100);
    const other = new Cache<string, number>('plans', budget);
    other.set('a', 1, { bytes: 50, milliseconds: 1 });
    const cache = new Cache<string, number>('answers', budget, 10);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1, { bytes: 5, milliseconds: 1 });
    expect([other.get('a'), cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 1, 1]);
  });
});

test.each([
  ['a container of 256 MiB', 132 * MB, 256 * MB, 16.5 * MB],
  ['a container with little memory beside the heap', 1024 * MB, 256 * MB, 32 * MB],
  ['a large machine', 4096 * MB, 65_536 * MB, 96 * MB],
])('caches may take an eighth, and not more than is of use: %s', (_, heap, memory, expected) => {
  expect(cacheBytes(heap, memory)).toBe(expected);
});
