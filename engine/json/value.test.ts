/** What values are, and when they are the same. */
import { expect, test } from 'vitest';
import { parseJson } from './parse-json.ts';
import { isRecord, isSameJson, nameOfJson, withNearestNumbers } from './value.ts';

test('values have the names of messages, and so do numbers that keep their text', () => {
  const values = [null, undefined, [], {}, 'x', 1, true, parseJson('9007199254740993')];
  const names = ['Null', 'Null', 'Array', 'Object', 'String', 'Number', 'Boolean', 'Number'];
  expect(values.map(nameOfJson)).toEqual(names);
});

test('a number that keeps its text is not an object', () => {
  expect([isRecord({}), isRecord(parseJson('1.0')), isRecord([]), isRecord(null)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('equality ignores the order of keys, and compares the spelling of numbers', () => {
  const same = (a: string, b: string) => isSameJson(parseJson(a), parseJson(b));
  expect(same('{"a":1,"b":[1.0]}', '{"b":[1.0],"a":1}')).toBe(true);
  expect(same('[9007199254740993]', '[9007199254740992]')).toBe(false);
  expect(same('[1.0]', '[1]')).toBe(false);
  expect(same('1.0', '{"rawJSON":"1.0"}')).toBe(false);
  expect(same('{"a":1}', '{"a":1,"b":1}')).toBe(false);
});

test('raw numbers are replaced by JavaScript numbers, and values without raw numbers are returned themselves', () => {
  const value = parseJson('{"a":[9007199254740993,1e3,0.5],"b":"9007199254740993","c":null}');
  expect(withNearestNumbers(value)).toEqual({
    a: [9007199254740992, 1000, 0.5],
    b: '9007199254740993',
    c: null,
  });
  const plain = parseJson('{"a":[1,{"b":null}]}');
  expect(withNearestNumbers(plain)).toBe(plain);
});
