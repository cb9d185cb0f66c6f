/** Tests specs whose depth or size would overload a recursive walk. */
import { expect, test } from 'vitest';
import { exceededLimit } from './validate.ts';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: [value] };
  return value;
}

/** Returns lists that each contain the previous one ten times, as YAML aliases can. */
function unfolding(levels: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level++) value = Array.from({ length: 10 }, () => value);
  return value;
}

test.each([
  ['an ordinary value', { a: [{ b: 'c' }, null] }, undefined],
  ['a deep but valid value', nested(100), undefined],
  ['a very deep value', nested(50_000), 'is nested more than 256 levels deep'],
  ['a value that unfolds to millions of values', unfolding(12), 'holds more than 2000000 values'],
  [
    'a value that contains itself',
    (() => {
      const a: unknown[] = [];
      a.push(a);
      return a;
    })(),
    'is nested more than 256 levels deep',
  ],
])('the depth and the size of a spec are limited: %s', (_, value, excess) => {
  expect(exceededLimit(value)).toBe(excess);
});
