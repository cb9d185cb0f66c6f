/** Tests the bounded map. */
import { expect, test } from 'vitest';
import { Lru } from './lru.ts';

test('the entry that was used least recently is removed first', () => {
  const lru = new Lru<string, number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  expect(lru.get('a')).toBe(1);
  lru.set('c', 3);
  expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([1, undefined, 3]);
});

test('an entry that is set again replaces the previous one', () => {
  const lru = new Lru<string, number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  lru.set('a', 3);
  lru.set('c', 4);
  expect([lru.size, lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([2, 3, undefined, 4]);
});
