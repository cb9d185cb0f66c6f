/** The operator's state is what its patches make of it, whenever it is read. */
import '../../testing/seed.ts';
import { type Arbitrary, array, assert, constantFrom, dictionary, oneof, property } from 'fast-check';
import { expect, test } from 'vitest';
import { mergePatch } from '../metadata/merge-patch.ts';
import { changesOperator, patchStates, setStates } from './catalog-states.ts';

const STATES = {
  cli: { a: 1 },
  console: {},
  operator: { manager: 'm', objects: { a: { n: 1 }, b: { n: 1 } } },
};

test('patches are merged in order when the state is read, and the earlier states are unchanged', () => {
  const once = patchStates(STATES, [{ objects: { a: { n: 2 } } }]);
  const twice = patchStates(setStates(once, { cli: { a: 2 } }), [{ objects: { a: null, c: { n: 3 } } }]);
  expect(twice).toEqual({
    cli: { a: 2 },
    console: {},
    operator: { manager: 'm', objects: { b: { n: 1 }, c: { n: 3 } } },
  });
  expect(once.operator).toEqual({ manager: 'm', objects: { a: { n: 2 }, b: { n: 1 } } });
  expect(STATES.operator.objects.a).toEqual({ n: 1 });
  expect((twice.operator as typeof STATES.operator).objects.b).toBe(STATES.operator.objects.b);
  expect(setStates(twice, { operator: 'set' }).operator).toBe('set');
});

test('any number of patches can be merged', () => {
  let states = patchStates(STATES, []);
  for (let i = 0; i < 1200; i++) states = patchStates(states, [{ objects: { [`k${i % 700}`]: { n: i } } }]);
  const { objects } = states.operator as { objects: Record<string, unknown> };
  expect([Object.keys(objects).length, objects['k1'], objects['k699']]).toEqual([
    702,
    { n: 701 },
    { n: 699 },
  ]);
});

test('whether a patch changes the state is known without merging it', () => {
  const states = patchStates(STATES, [{ objects: { a: { n: 2 }, c: { d: { e: [1] } } }, manager: null }]);
  const same = [
    {},
    { objects: {} },
    { objects: { a: { n: 2 } } },
    { manager: null },
    { objects: { c: { d: { e: [1] } } } },
  ];
  const other = [
    { objects: { a: { n: 1 } } },
    { objects: { b: null } },
    { manager: 'm' },
    { objects: 1 },
    1,
    { objects: { d: {} } },
  ];
  expect(same.filter((patch) => changesOperator(states, patch))).toEqual([]);
  expect(other.filter((patch) => !changesOperator(states, patch))).toEqual([]);
});

test('any patches give the same result as merging them one by one, and are recognised as changes exactly then', () => {
  const leaf = constantFrom<unknown>(null, 1, 2, [1]);
  const nested = (inner: Arbitrary<unknown>) => dictionary(constantFrom('a', 'b', 'c'), oneof(leaf, inner));
  const patch = oneof(leaf, nested(nested(nested(leaf))));
  assert(
    property(patch, array(patch, { maxLength: 4 }), patch, (value, patches, last) => {
      const before = { cli: {}, console: {}, operator: value };
      const merged = patches.reduce(mergePatch, value);
      const states = patches.reduce<typeof before>(
        (all, one) => patchStates(all, [one]) as typeof before,
        before,
      );
      const isOther = JSON.stringify(mergePatch(merged, last)) !== JSON.stringify(merged);
      expect(changesOperator(states, last)).toBe(isOther);
      expect(JSON.stringify(states.operator)).toBe(JSON.stringify(merged));
    }),
    { numRuns: 500 },
  );
});
