/** A layered map is a map: random changes, compared with the same changes of a plain map. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LayeredMap, withChanges } from './layered-map.ts';

const key = fc.constantFrom(...Array.from({ length: 40 }, (_, i) => `k${i}`));
const changes = fc.array(fc.tuple(key, fc.option(fc.nat(9), { nil: undefined })), { maxLength: 20 });

test('it holds what a plain map would, and the maps before it stay as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat(9))), fc.array(changes, { maxLength: 12 }), (first, rounds) => {
      const plain = new Map(first);
      let layered: ReadonlyMap<string, number> = new Map(first);
      for (const round of rounds) {
        const [before, entriesBefore] = [layered, [...layered]];
        for (const [k, value] of round) {
          if (value === undefined) plain.delete(k);
          else plain.set(k, value);
        }
        layered = withChanges(layered, round);
        expect([...before]).toEqual(entriesBefore);
        expect(layered.size).toBe(plain.size);
        expect(new Map(layered)).toEqual(plain);
        expect([...layered.keys()].every((k) => layered.has(k) && layered.get(k) === plain.get(k))).toBe(
          true,
        );
        expect([...layered.values()].toSorted()).toEqual([...plain.values()].toSorted());
      }
    }),
  );
});

test('thousands of changes do not pile up', () => {
  let map: ReadonlyMap<string, number> = new Map();
  for (let i = 0; i < 3000; i++) map = withChanges(map, [[`k${i % 2000}`, i]]);
  expect(map.size).toBe(2000);
  expect(map.get('k999')).toBe(2999);
  expect([...map.keys()].slice(0, 3)).toEqual(['k0', 'k1', 'k2']);
});

test('a map has its last values, and leaves the map below and its copies as they are', () => {
  const below = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  const map = new LayeredMap(below);
  const copy = map.copy();
  map.set('a', 3);
  map.delete('b');
  map.set('c', 4);
  const valuesOf = (one: LayeredMap<number>) => ['a', 'b', 'c', 'd'].map((key) => one.get(key));
  expect([valuesOf(map), valuesOf(copy), valuesOf(map.copy())]).toEqual([
    [3, undefined, 4, undefined],
    [1, 2, undefined, undefined],
    [3, undefined, 4, undefined],
  ]);
  expect(['a', 'b'].map((key) => map.has(key))).toEqual([true, false]);
  expect(below.size).toBe(2);
});

test('a copy has the same entries when it merges many changes', () => {
  const map = new LayeredMap(new Map(Array.from({ length: 9000 }, (_, i) => [`k${i}`, i])));
  for (let i = 0; i < 9000; i += 2) map.delete(`k${i}`);
  for (let i = 9000; i < 12_000; i++) map.set(`k${i}`, i);
  const copy = map.copy();
  copy.set('k1', -1);
  const keys = Array.from({ length: 12_000 }, (_, i) => `k${i}`).filter((key) => key !== 'k1');
  expect(keys.map((key) => copy.get(key))).toEqual(keys.map((key) => map.get(key)));
  expect([map.get('k1'), copy.get('k1'), copy.get('k2')]).toEqual([1, -1, undefined]);
});

test('many changes become part of the map below once, whatever the number of copies', () => {
  let copied = 0;
  class Counted extends Map<string, number> {
    override [Symbol.iterator](): MapIterator<[string, number]> {
      copied++;
      return super[Symbol.iterator]();
    }
  }
  const map = new LayeredMap(new Counted([['a', 1]]));
  for (let i = 0; i < 1000; i++) map.set(`k${i}`, i);
  const copies = [map.copy(), map.copy(), map.copy()];
  expect(copied).toBe(1);
  copies[0]!.set('k1', -1);
  expect([map, ...copies].map((one) => [one.size, one.get('k1')])).toEqual([
    [1001, 1],
    [1001, -1],
    [1001, 1],
    [1001, 1],
  ]);
});
