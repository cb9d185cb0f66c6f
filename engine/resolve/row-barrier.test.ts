import { expect, test } from 'vitest';
import type { OperatorName } from '../catalog/operators.ts';
import { arrayOf, builtinType, type PgType } from '../catalog/types.ts';
import { and, type ColumnRef, comparison, FALSE, not, or, type Predicate, TRUE } from './predicate.ts';
import { filtered, filteredWhole, mayRaise } from './row-barrier.ts';

const TEXT = builtinType('text');
const INT = builtinType('int4');
const typed = (type: Partial<PgType>): PgType => ({ ...TEXT, schema: 'public', ...type });
const call = { function: { schema: 'public', name: 'f' }, arguments: [] };

function compared(type: PgType, operator: OperatorName = '_eq', more: Partial<ColumnRef> = {}): Predicate {
  return comparison({ column: 'c', type, ...more }, operator, { kind: 'constant', value: '1', type });
}

const SAFE = compared(INT);
const UNSAFE = compared(TEXT, '_regex');
const FILTER = compared(INT, '_gt');
const join = { table: { schema: 'public', name: 't' }, mapping: [], isUnique: false } as const;
const sum = { join, fn: 'sum', columns: ['c'], isDistinct: false, where: TRUE } as const;

test.each<[string, Predicate, boolean]>([
  ['an equality', SAFE, false],
  ['a pattern of LIKE', compared(TEXT, '_like'), false],
  ['an array', compared(arrayOf(INT)), false],
  ['an enum', compared(typed({ kind: 'enum', name: 'mood' })), false],
  ['a domain', compared(typed({ kind: 'domain', name: 'email', base: TEXT })), false],
  ['a type of a known extension', compared(typed({ name: 'citext' })), false],
  ['jsonb as text', compared(TEXT, '_like', { cast: TEXT }), false],
  ['containment', compared(builtinType('jsonb'), '_contains'), false],
  ['a count', compared(INT, '_gt', { aggregate: { ...sum, fn: 'count' } }), false],
  ['an equality of related rows', { kind: 'related', join, where: SAFE }, false],
  ['a type nobody knows', compared(typed({ name: 'fraction' })), true],
  ['a composite type', compared(typed({ kind: 'composite', name: 'address' })), true],
  ['a regular expression', UNSAFE, true],
  ['another cast', compared(INT, '_eq', { cast: INT }), true],
  ['a computed field', compared(INT, '_eq', { call }), true],
  [
    'a computed field that is null',
    { kind: 'is-null', left: { column: 'c', type: INT, call }, isNull: true },
    true,
  ],
  ['a column of a view', compared(INT, '_eq', { isComputed: true }), true],
  ['a sum', compared(INT, '_gt', { aggregate: sum }), true],
  [
    'a count of rows that may raise',
    compared(INT, '_gt', { aggregate: { ...sum, fn: 'count', where: UNSAFE } }),
    true,
  ],
  ['related rows that may raise', { kind: 'related', join, where: UNSAFE }, true],
  ['rows of a function', { kind: 'called', call, where: TRUE }, true],
  ['a part of a conjunction', and(SAFE, UNSAFE), true],
  ['a part of a disjunction', or(SAFE, UNSAFE), true],
  ['a negation', not(UNSAFE), true],
])('%s', (_name, predicate, isUnsafe) => {
  expect(mayRaise(predicate)).toBe(isUnsafe);
});

test('what may raise is put behind the filter, and the rest stays beside it', () => {
  expect(filtered(FILTER, and(UNSAFE, SAFE))).toEqual(
    and(FILTER, SAFE, { kind: 'barrier', filter: FILTER, where: UNSAFE }),
  );
  expect(filtered(FILTER, SAFE)).toEqual(and(FILTER, SAFE));
});

test('without a filter, or with one that no row passes, there is no barrier', () => {
  expect(filtered(TRUE, UNSAFE)).toBe(UNSAFE);
  expect(filtered(FALSE, UNSAFE)).toBe(FALSE);
  expect(filteredWhole(FILTER, TRUE)).toBe(FILTER);
});

test('of rows that a function returns, every condition is behind the filter', () => {
  expect(filteredWhole(FILTER, SAFE)).toEqual(and(FILTER, { kind: 'barrier', filter: FILTER, where: SAFE }));
});
