/** Values in the metadata as leaves. */
import { expect, test } from 'vitest';
import { arrayOf, builtinType, type PgType } from '../catalog/types.ts';
import { EngineError } from '../errors/engine-error.ts';
import { typeOf } from './testing/small-world.ts';
import { leafOf, listLeafOf } from './value.ts';

const constant = (value: unknown, type: string) => {
  const leaf = leafOf(value, typeOf(type));
  return leaf.kind === 'constant' ? leaf.value : leaf;
};
const refusal = (body: () => unknown): string => {
  try {
    body();
  } catch (error) {
    if (error instanceof EngineError) return error.message;
  }
  return 'accepted';
};

test('a constant is the text Postgres reads', () => {
  expect(constant(7, 'int4')).toBe('7');
  expect(constant('7', 'int8')).toBe('7');
  expect(constant(1.5, 'numeric')).toBe('1.5');
  expect(constant(true, 'bool')).toBe('true');
  expect(constant(false, 'bool')).toBe('false');
  expect(constant('it’s "quoted"', 'text')).toBe('it’s "quoted"');
  expect(constant(null, 'int4')).toBeNull();
});

test('any JSON value is a json constant, strings with their quotes', () => {
  expect(constant({ a: [1] }, 'jsonb')).toBe('{"a":[1]}');
  expect(constant('text', 'jsonb')).toBe('"text"');
  expect(constant([1, 2], 'json')).toBe('[1,2]');
});

test('a list is an array of texts', () => {
  expect(constant([1, null, 3], 'int4[]')).toEqual(['1', null, '3']);
  expect(constant('{1,2}', 'int4[]')).toBe('{1,2}');
  expect(constant([], 'text[]')).toEqual([]);
});

test('a list of lists is an array literal, with everything quoted that must be', () => {
  expect(
    constant(
      [
        ['a"b', null],
        ['c\\d', 'e,f'],
      ],
      'text[]',
    ),
  ).toBe('{{"a\\"b",NULL},{"c\\\\d","e,f"}}');
});

test('a session variable is recognised in any case and kept in lower case', () => {
  const type = builtinType('int4');
  expect(leafOf('X-Engine-User-Id', type)).toEqual({ kind: 'session', variable: 'x-engine-user-id', type });
  expect(() => leafOf('X-Engine-', builtinType('text'))).toThrow('looks like a session variable');
  expect(leafOf('X-Engine-', builtinType('text'), null)).toMatchObject({ kind: 'constant' });
  expect(leafOf('my x-engine-user-id', builtinType('text'))).toMatchObject({ kind: 'constant' });
});

test('on the right of _in a session variable holds an array', () => {
  const element = builtinType('int4');
  expect(listLeafOf('x-engine-allowed-ids', element)).toEqual({
    kind: 'session',
    variable: 'x-engine-allowed-ids',
    type: arrayOf(element),
  });
});

test('a list may mix constants and session variables', () => {
  const element = builtinType('text');
  expect(listLeafOf(['a', 'X-Engine-Role'], element)).toEqual({
    kind: 'list',
    items: [
      { kind: 'constant', value: 'a', type: element },
      { kind: 'session', variable: 'x-engine-role', type: element },
    ],
    type: arrayOf(element),
  });
});

test('a domain is checked as what it holds and cast as itself', () => {
  const domain: PgType = { ...builtinType('positive'), kind: 'domain', base: builtinType('int4') };
  expect(leafOf(1, domain)).toEqual({ kind: 'constant', value: '1', type: domain });
  expect(refusal(() => leafOf(2 ** 31, domain))).toContain('The value 2.147483648e9 lies outside the bounds');
});

test('a value of another JSON kind, or out of range, is refused', () => {
  expect(refusal(() => leafOf(1.5, builtinType('int8')))).toContain('The value 1.5 lies outside the bounds');
  expect(refusal(() => leafOf(true, builtinType('int4')))).toContain('encountered Boolean');
  expect(refusal(() => leafOf(5, builtinType('text')))).toContain('encountered Number');
  expect(refusal(() => leafOf({}, builtinType('text')))).toContain('encountered Object');
  expect(refusal(() => leafOf(['a'], builtinType('text')))).toContain('encountered Array');
  expect(refusal(() => listLeafOf('a', builtinType('text')))).toContain('expected Array');
  expect(refusal(() => listLeafOf([1, true], builtinType('int4')))).toContain('encountered Boolean');
});

test('a text is left to Postgres, whatever the type', () => {
  for (const [value, type] of [
    ['abc', 'int4'],
    ['maybe', 'bool'],
    ['1.2.3', 'numeric'],
  ] as const)
    expect(constant(value, type)).toBe(value);
});

test('what Postgres also reads is let through', () => {
  for (const value of ['NaN', '-Infinity', '1e400', '.5', '5.'])
    expect(constant(value, 'numeric')).toBe(value);
  for (const value of ['t', 'OFF', 'yes', '0']) expect(constant(value, 'bool')).toBe(value);
});

test('where no value can begin with x-, a text that does was meant as a session variable', () => {
  for (const type of ['uuid', 'int4', 'numeric', 'bool', 'date', 'timestamptz', 'interval', 'inet']) {
    for (const [text, meant] of [
      ['X-Org-Id', 'X-Engine-Org-Id'],
      ['x-org-id', 'x-engine-org-id'],
    ] as const) {
      expect(
        refusal(() => constant(text, type)),
        type,
      ).toContain(`did you mean "${meant}"?`);
      expect(
        refusal(() => listLeafOf([text], typeOf(type))),
        type,
      ).toContain(`did you mean "${meant}"?`);
      expect(constant({ $literal: text }, type), type).toBe(text);
    }
    expect(refusal(() => constant('X-Engine-Org-Id', type))).toBe('accepted');
    expect(refusal(() => constant('1', type))).toBe('accepted');
  }
  for (const type of ['text', 'varchar', 'citext', 'jsonb', 'xml', 'tsvector', 'bytea']) {
    expect(
      refusal(() => constant('x-org-id', type)),
      type,
    ).toBe('accepted');
  }
});
