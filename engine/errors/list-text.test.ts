/** Tests lists that end with the number of what they leave out. */
import { expect, test } from 'vitest';
import { listText } from './list-text.ts';

test('a list that is short enough is complete', () => {
  expect(listText([], { most: 2 })).toBe('');
  expect(listText(['a'], { most: 2 })).toBe('a');
  expect(listText(['a', 'b'], { most: 2 })).toBe('a, b');
  expect(listText(['a', 'b'], { most: 2, separator: '; ' })).toBe('a; b');
});

test('a longer list says how many it leaves out', () => {
  expect(listText(['a', 'b', 'c'], { most: 2 })).toBe('a, b and 1 more');
  expect(listText(['a', 'b', 'c'], { most: 1, separator: '; ' })).toBe('a; and 2 more');
  expect(listText(['a', 'b'], { most: 2, total: 5 })).toBe('a, b and 3 more');
  expect(listText([], { most: 2, total: 5 })).toBe('5 more');
});
