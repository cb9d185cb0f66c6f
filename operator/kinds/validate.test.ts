/** Shapes of specs that would stop whoever walks them. */
import { expect, test } from 'vitest';
import { exceededLimit } from './validate.ts';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: [value] };
  return value;
}

/** Each list holds the one before ten times: as YAML aliases do. */
function unfolding(levels: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level++) value = Array.from({ length: 10 }, () => value);
  return value;
}

test.each([
  ['an ordinary value', { a: [{ b: 'c' }, null] }, undefined],
  ['a deep but readable one', nested(100), undefined],
  ['a very deep one', nested(50_000), 'is nested more than 256 levels deep'],
  ['one that unfolds', unfolding(12), 'holds more than 2000000 values'],
  [
    'one that contains itself',
    (() => {
      const a: unknown[] = [];
      a.push(a);
      return a;
    })(),
    'is nested more than 256 levels deep',
  ],
])('%s', (_, value, excess) => {
  expect(exceededLimit(value)).toBe(excess);
});
