/** Predicates fold what is always true or never. */
import { expect, test } from 'vitest';
import { builtinType } from '../catalog/types.ts';
import { and, FALSE, not, or, type Predicate, TRUE } from './predicate.ts';

const isNull = (column: string): Predicate => ({
  kind: 'is-null',
  left: { column, type: builtinType('text') },
  isNull: true,
});
const [a, b, c] = [isNull('a'), isNull('b'), isNull('c')];

test('a conjunction drops what is true, stops at what is false and stays flat', () => {
  expect(and()).toBe(TRUE);
  expect(and(TRUE, a, TRUE)).toBe(a);
  expect(and(a, FALSE)).toBe(FALSE);
  expect(and(and(a, b), c)).toEqual({ kind: 'and', all: [a, b, c] });
});

test('a disjunction drops what is false, stops at what is true and stays flat', () => {
  expect(or()).toBe(FALSE);
  expect(or(FALSE, a, FALSE)).toBe(a);
  expect(or(a, TRUE)).toBe(TRUE);
  expect(or(or(a, b), c)).toEqual({ kind: 'or', any: [a, b, c] });
});

test('a negation turns constants around and keeps the rest', () => {
  expect([not(TRUE), not(FALSE)]).toEqual([FALSE, TRUE]);
  expect(not(a)).toEqual({ kind: 'not', not: a });
});
