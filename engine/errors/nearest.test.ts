/** Names that somebody may have meant by one that does not exist. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, nearestNames, nearestText } from './nearest.ts';

const COLUMNS = [
  'id',
  'author_id',
  'title',
  'titles',
  'published_at',
  'published_by',
  'published_on',
  'price',
];

test.each([
  ['titel', ['title', 'titles']],
  ['authorId', ['author_id']],
  ['author', ['author_id']],
  ['published_ad', ['published_at', 'published_by', 'published_on']],
  ['nothing_alike', []],
  ['', []],
  ['_', []],
] as const)('%s is near %j', (word, expected) => {
  expect(nearestNames(word, COLUMNS)).toEqual(expected);
});

test('a word with more letters than the operator names the operator', () => {
  expect(nearestNames('_equals', ['_eq', '_neq', '_gt', '_in', '_like'])).toEqual(['_eq']);
  expect(nearestNames('eq', ['_eq', '_neq', '_gt'])[0]).toBe('_eq');
});

test('names are distinct, exist, are not the word, and at most three', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '_', 'A'), maxLength: 8 });
  fc.assert(
    fc.property(name, fc.array(name), (word, known) => {
      const found = nearestNames(word, known);
      expect(found.length).toBeLessThanOrEqual(3);
      expect(new Set(found).size).toBe(found.length);
      for (const each of found) expect(known).toContain(each);
      expect(found).not.toContain(word);
      expect(nearestNames(word, known.toReversed())).toEqual(found);
    }),
  );
});

test('a name with one wrong letter is found, and no name is nearer than the first', () => {
  const name = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 3, maxLength: 20 });
  fc.assert(
    fc.property(name, fc.nat(), fc.array(name), (meant, at, others) => {
      const index = at % meant.length;
      const word = `${meant.slice(0, index)}z${meant.slice(index + 1)}`;
      const [first] = nearestNames(word, [...others, meant]);
      expect(first).toBeDefined();
      expect(editDistance(word, first!)).toBe(1);
    }),
  );
});

test('long words and long lists cost no more than a bound', () => {
  const many = Array.from({ length: 200_000 }, (_, i) => `column_${i}`);
  const started = performance.now();
  expect(nearestNames('column_x'.padEnd(100_000, 'x'), many)).toEqual([]);
  expect(nearestNames('column_', many)).toHaveLength(3);
  expect(performance.now() - started).toBeLessThan(2000);
});

test('the clause lists the names', () => {
  expect(nearestText([])).toBe('');
  expect(nearestText(['a'])).toBe('; the nearest name is "a"');
  expect(nearestText(['a', 'b', 'c'])).toBe('; the nearest names are "a", "b" and "c"');
});
