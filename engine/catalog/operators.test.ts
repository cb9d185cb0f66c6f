/** Operators: which column offers which, and how permission rules may spell them. */
import { expect, test } from 'vitest';
import { OPERATORS, operatorOfRule, operatorsOf } from './operators.ts';

test('every column offers the generic operators, text columns the text ones as well', () => {
  const generic = ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in', '_nin', '_is_null'];
  expect(operatorsOf('number')).toEqual(generic);
  expect(operatorsOf('text').slice(0, generic.length)).toEqual(generic);
  expect(operatorsOf('text')).toContain('_niregex');
  expect(operatorsOf('text')).not.toContain('_contains');
  expect(operatorsOf('jsonb')).not.toContain('_like');
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
