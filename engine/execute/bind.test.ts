/** Twins of bind.ts. */
import { describe, expect, test } from 'vitest';
import { arrayOf, builtinType, type PgType } from '../catalog/types.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { bind } from './bind.ts';

const int4 = builtinType('int4');
const text = builtinType('text');
const session = { role: 'user', variables: { 'x-engine-user-id': '7' }, mayUseBackendOnly: false };
const bound = (leaf: Leaf, variables: Record<string, unknown> = {}, written?: string) =>
  bind([leaf], { session, variables, ...(written ? { written } : {}) })[0];
const variable = (type: PgType, ...path: (string | number)[]): Leaf => ({ kind: 'variable', path, type });

describe('a value comes from', () => {
  test('the plan', () => {
    expect(bound({ kind: 'constant', value: '1', type: int4 })).toBe('1');
  });

  test('the session, an array literal untouched', () => {
    expect(bound({ kind: 'session', variable: 'x-engine-user-id', type: int4 })).toBe('7');
    const ids = { role: 'user', variables: { ids: '{1,2}' }, mayUseBackendOnly: false };
    const leaf: Leaf = { kind: 'session', variable: 'ids', type: arrayOf(int4) };
    expect(bind([leaf], { session: ids, variables: {} })).toEqual(['{1,2}']);
  });

  test('deep inside the variables', () => {
    expect(bound(variable(int4, 'where', 'id', 0, '_eq'), { where: { id: [{ _eq: 3 }] } })).toBe('3');
  });

  test('several places, for one array', () => {
    const items: Leaf[] = [
      { kind: 'constant', value: '1', type: int4 },
      variable(int4, 'b'),
      { kind: 'session', variable: 'x-engine-user-id', type: int4 },
    ];
    expect(bound({ kind: 'list', items, type: arrayOf(int4) }, { b: 2 })).toEqual(['1', '2', '7']);
  });

  test('the rows just written', () => {
    expect(bound({ kind: 'written', type: text }, {}, '{"(1,a)"}')).toBe('{"(1,a)"}');
    expect(bound({ kind: 'written', type: text })).toBeNull();
  });
});

test('a session variable that did not come is an error that names it', () => {
  const leaf: Leaf = { kind: 'session', variable: 'x-engine-org', type: int4 };
  expect(() => bound(leaf)).toThrow('missing session variable: "x-engine-org"');
});

describe('a geometry in a session variable', () => {
  const geometry: PgType = { ...builtinType('geometry'), schema: 'public' };
  const area: Leaf = { kind: 'session', variable: 'x-engine-area', type: geometry };
  const within = (given: string) =>
    bind([area], { session: { ...session, variables: { 'x-engine-area': given } }, variables: {} });

  test('is GeoJSON as it was sent', () => {
    expect(within('{"type":"Point","coordinates":[1,2]}')).toEqual(['{"type":"Point","coordinates":[1,2]}']);
  });

  test.each([
    ['{"type":"Point"', 'a geometry is a GeoJSON object'],
    ['POINT(1 2)', 'a geometry is a GeoJSON object'],
    ['{"type":"Point","coordinates":[1]}', 'A Position needs at least 2 elements'],
  ])('is refused by name when it is %s', (given, problem) => {
    expect(() => within(given)).toThrow(`session variable "x-engine-area": ${problem}`);
  });
});

test('an inherited property is no session variable', () => {
  const leaf: Leaf = { kind: 'session', variable: 'constructor', type: text };
  expect(() => bound(leaf)).toThrow('missing session variable: "constructor"');
});

test.each<[string, PgType, unknown, unknown]>([
  ['a number', int4, 5, '5'],
  ['a boolean', builtinType('bool'), false, 'false'],
  ['a null', int4, null, null],
  ['an absent value', int4, undefined, null],
  ['a string for jsonb', builtinType('jsonb'), 'a"b', '"a\\"b"'],
  ['an object for jsonb', builtinType('jsonb'), { a: [1] }, '{"a":[1]}'],
  ['a list for an array', arrayOf(int4), [1, null], ['1', null]],
  ['an array literal for an array', arrayOf(int4), '{1}', '{1}'],
  ['a list of documents', arrayOf(builtinType('jsonb')), [{ a: 1 }, 's'], ['{"a":1}', '"s"']],
])('%s is sent as text', (_name, type, value, expected) => {
  expect(bound(variable(type, 'v'), { v: value })).toEqual(expected);
});
