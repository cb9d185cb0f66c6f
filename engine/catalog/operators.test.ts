/** Operators: which column offers which, and how permission rules may spell them. */
import { expect, test } from 'vitest';
import { OPERATORS, operandOf, operatorOfRule, operatorsOf } from './operators.ts';
import { SCALARS, scalarOf } from './scalars.ts';
import { arrayOf, builtinType } from './types.ts';

test('every column offers the generic operators, text columns the text ones as well', () => {
  const generic = ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in', '_nin', '_is_null'];
  expect(operatorsOf(SCALARS['int4']!)).toEqual(generic);
  expect(operatorsOf(SCALARS['text']!).slice(0, generic.length)).toEqual(generic);
  expect(operatorsOf(SCALARS['text']!)).toContain('_niregex');
  expect(operatorsOf(SCALARS['text']!)).not.toContain('_contains');
  expect(operatorsOf(SCALARS['jsonb']!)).not.toContain('_like');
});

test('a rule spells an operator with _ or $, or by an alias', () => {
  expect(operatorOfRule('_eq')).toBe('_eq');
  expect(operatorOfRule('$nin')).toBe('_nin');
  expect(operatorOfRule('$ne')).toBe('_neq');
  expect(operatorOfRule('_ne')).toBe('_neq');
});

test('anything else is no operator', () => {
  for (const key of ['eq', '', '_', '$', '__eq', '_EQ', '_toString', 'constructor', '_ceq']) {
    expect(operatorOfRule(key), key).toBeUndefined();
  }
});

test('no two operators share a spelling', () => {
  const spellings = Object.entries(OPERATORS).flatMap(([name, row]) => [
    name.slice(1),
    ...('aliases' in row ? row.aliases : []),
  ]);
  expect(new Set(spellings).size).toBe(spellings.length);
});

test('a type offers only what Postgres can compare it by', () => {
  expect(operatorsOf(SCALARS['json']!)).toEqual(['_is_null']);
  expect(operatorsOf(SCALARS['line']!)).toEqual(['_eq', '_neq', '_in', '_nin', '_is_null']);
  expect(operatorsOf(SCALARS['bytea']!)).toContain('_gt');
  expect(operatorsOf(SCALARS['ltree']!)).toEqual(
    expect.arrayContaining(['_gt', '_ancestor_any', '_matches']),
  );
  expect(operatorsOf(SCALARS['ltree']!)).not.toContain('_like');
});

test('a geography is compared by fewer operators than a geometry, and in metres on the spheroid', () => {
  const names = operatorsOf(SCALARS['geography']!).filter((name) => name.startsWith('_st'));
  expect(names).toEqual(['_st_intersects', '_st_d_within']);
  expect(operandOf('_st_d_within', 'geography')).toMatchObject({ input: 'st_d_within_geography_input' });
  expect(operandOf('_st_d_within', 'geometry')).toMatchObject({ input: 'st_d_within_input' });
});

test('arrays are compared as far as their elements can be', () => {
  const names = (element: string) => operatorsOf(scalarOf(arrayOf(builtinType(element))));
  const contains = ['_contains', '_contained_in'];
  const compared = ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in', '_nin', '_is_null'];
  expect(names('text')).toEqual([...compared, ...contains]);
  expect(names('box')).toEqual(['_is_null']);
  expect(names('json')).toEqual(['_is_null']);
});
