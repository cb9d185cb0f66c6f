/** Twins of lru.ts. */
import { expect, test } from 'vitest';
import { Lru } from './lru.ts';

test('what was used least recently goes first', () => {
  const lru = new Lru<string, number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  expect(lru.get('a')).toBe(1);
  lru.set('c', 3);
  expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([1, undefined, 3]);
});

test('a heavy entry pushes out several light ones', () => {
  const lru = new Lru<string, number>(10);
  for (const key of ['a', 'b', 'c']) lru.set(key, 0, 3);
  lru.set('d', 0, 7);
  expect([lru.size, lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([2, undefined, undefined, 0]);
});

test('an entry heavier than the whole is not kept, and pushes nothing out', () => {
  const lru = new Lru<string, number>(10);
  lru.set('a', 1);
  lru.set('b', 2, 11);
  expect([lru.get('a'), lru.get('b')]).toEqual([1, undefined]);
});

test('an entry set again replaces the old one and its weight', () => {
  const lru = new Lru<string, number>(3);
  lru.set('a', 1, 3);
  lru.set('a', 2, 1);
  lru.set('b', 3, 2);
  expect([lru.get('a'), lru.get('b')]).toEqual([2, 3]);
});
