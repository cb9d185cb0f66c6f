/** Numbers survive their way through. */
import { expect, test } from 'vitest';
import '../../testing/seed.ts';
import { assert, constantFrom, json, property, string } from 'fast-check';
import { parseJson } from './parse-json.ts';
import { isSameJson } from './value.ts';

test.each([
  '9007199254740993',
  '-123456789012345678901234567890',
  '0.1234567890123456789',
  '1e400',
  '1.0',
  '-0',
  '1E+3',
  '123456789012345.1234567',
  '[1,{"a":9007199254740993,"b":"9007199254740993"},2.5]',
])('%s is written as it was read', (text) => {
  expect(JSON.stringify(parseJson(text))).toBe(text);
});

test('ordinary numbers are ordinary numbers', () => {
  expect(parseJson('[1, -2.5, 123456789012345]')).toEqual([1, -2.5, 123456789012345]);
  expect(parseJson('{"a": 1, "b": "12345678901234567890"}')).toEqual({ a: 1, b: '12345678901234567890' });
});

test('what is no JSON is refused', () => {
  for (const text of ['', '{', 'nope', '12345678901234567890x'])
    expect(() => parseJson(text)).toThrow('invalid json');
});

test('what is nested deeper than anybody could walk is refused, strings of brackets are not', () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  expect(() => parseJson(nested(1000))).not.toThrow();
  expect(() => parseJson(nested(1002))).toThrow('invalid json');
  expect(parseJson(JSON.stringify('[\\"['.repeat(5000)))).toHaveLength(25_000 - 5000);
});

test('numbers in texts are not looked at, wherever the texts end', () => {
  expect(JSON.stringify(parseJson('{"1.0\\\\":"\\"1e3","b":[true,1.0]}'))).toBe(
    '{"1.0\\\\":"\\"1e3","b":[true,1.0]}',
  );
  expect(() => parseJson('"1.0')).toThrow('invalid json');
});

test('what JSON.parse reads is read, and nothing else', () => {
  const plain = (text: string) => isSameJson(parseJson(text), JSON.parse(text));
  assert(property(json(), plain));
  assert(
    property(string({ unit: constantFrom(...'[]{}",:\\-+.eE01 tn') }), (text) => {
      const known = [JSON.parse, parseJson].map((parse) => {
        try {
          return JSON.stringify(parse(text)).replaceAll(/[\d.eE+-]+/g, '');
        } catch {
          return 'refused';
        }
      });
      expect(known[1]).toBe(known[0]);
    }),
  );
});
