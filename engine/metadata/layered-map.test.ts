/** A map over another. */
import { expect, test } from 'vitest';
import { LayeredMap } from './layered-map.ts';

test('says what was said last, and leaves what is below and what was copied as it is', () => {
  const below = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  const map = new LayeredMap(below);
  const copy = map.copy();
  map.set('a', 3);
  map.delete('b');
  map.set('c', 4);
  const said = (one: LayeredMap<number>) => ['a', 'b', 'c', 'd'].map((key) => one.get(key));
  expect([said(map), said(copy), said(map.copy())]).toEqual([
    [3, undefined, 4, undefined],
    [1, 2, undefined, undefined],
    [3, undefined, 4, undefined],
  ]);
  expect(['a', 'b'].map((key) => map.has(key))).toEqual([true, false]);
  expect(below.size).toBe(2);
});

test('is the same when so much was said that it goes below', () => {
  const map = new LayeredMap(new Map(Array.from({ length: 9000 }, (_, i) => [`k${i}`, i])));
  for (let i = 0; i < 9000; i += 2) map.delete(`k${i}`);
  for (let i = 9000; i < 12_000; i++) map.set(`k${i}`, i);
  const copy = map.copy();
  copy.set('k1', -1);
  const keys = Array.from({ length: 12_000 }, (_, i) => `k${i}`).filter((key) => key !== 'k1');
  expect(keys.map((key) => copy.get(key))).toEqual(keys.map((key) => map.get(key)));
  expect([map.get('k1'), copy.get('k1'), copy.get('k2')]).toEqual([1, -1, undefined]);
});
