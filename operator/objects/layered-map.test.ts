/** A layered map is a map: random changes, beside the same ones made to a plain one. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withChanges } from './layered-map.ts';

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
