/** Numbers survive their way through. */
import { expect, test } from 'vitest';
import '../../testing/seed.ts';
import { array, assert, constantFrom, json, property, string, tuple } from 'fast-check';
import { numberFrom } from './number.ts';
import { parseJson, parsingJson } from './parse-json.ts';
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

test('text that looks like the internal marks is unchanged', () => {
  for (const text of ['{"\\u0001a":"\\u00011.0","b":[1.0,"\\u0001","\\u0001\\u0001"]}', '["\\u00011.0"]']) {
    expect(JSON.stringify(parseJson(text))).toBe(text);
  }
  const member = parseJson('{"__proto__":1.0,"x":{"__proto__":[1e3]}}');
  expect(JSON.stringify(member)).toBe('{"__proto__":1.0,"x":{"__proto__":[1e3]}}');
  expect(Object.getPrototypeOf(member)).toBe(Object.prototype);
});

test('a number in an invalid position is refused, whatever it looks like', () => {
  for (const text of [
    '{1.0:1}',
    '{1.0 :1}',
    '[1.0 2.0]',
    '1.0"a"',
    '"a"1.0',
    '[01.0]',
    '[1.]',
    '[.5]',
    '[1.0e]',
    '[-]',
  ]) {
    expect(() => parseJson(text), text).toThrow('invalid json');
  }
});

test('invalid JSON is refused', () => {
  for (const text of ['', '{', 'nope', '12345678901234567890x'])
    expect(() => parseJson(text)).toThrow('invalid json');
});

test('text that is nested too deeply is refused, strings of brackets are not', () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  expect(() => parseJson(nested(1000))).not.toThrow();
  expect(() => parseJson(nested(1002))).toThrow('invalid json');
  expect(parseJson(JSON.stringify('[\\"['.repeat(5000)))).toHaveLength(25_000 - 5000);
});

test('numbers inside strings are ignored, wherever the strings end', () => {
  expect(JSON.stringify(parseJson('{"1.0\\\\":"\\"1e3","b":[true,1.0]}'))).toBe(
    '{"1.0\\\\":"\\"1e3","b":[true,1.0]}',
  );
  expect(() => parseJson('"1.0')).toThrow('invalid json');
});

test('the result is that of JSON.parse with the source text of each number', () => {
  type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown;
  const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;
  const reference = (text: string) =>
    parse(text, (_, value, { source }) => (typeof value === 'number' ? numberFrom(source) : value));
  const written = constantFrom('1.0', '-0', '12345678901234567890', '1e3', '7', '0.1');
  const texts = tuple(json({ stringUnit: 'binary' }), array(written, { minLength: 1 })).map(
    ([text, numbers]) =>
      text.replaceAll(/(?<=[[,:])-?\d[^,\]}]*(?=[,\]}])/g, (_, at: number) => numbers[at % numbers.length]!),
  );
  assert(
    property(texts, (text) => {
      let expected: unknown;
      try {
        expected = reference(text);
      } catch {
        return; // A number was replaced in the middle of a text.
      }
      expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(expected));
    }),
  );
});

test('exactly the texts that JSON.parse accepts are accepted', () => {
  const plain = (text: string) => isSameJson(parseJson(text), JSON.parse(text));
  assert(property(json(), plain));
  assert(
    property(string({ unit: constantFrom(...'[]{}",:\\-+.eE01 tn', '1.0', '1e3', '\\u0001') }), (text) => {
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

test('text that is looked at in pieces is parsed and refused like the whole', () => {
  const texts = string({
    unit: constantFrom(...'[]{}",:\\-+.eE01 tn', '1.0', '1e3', '\\u0001', '{"a":[', '9007199254740993'),
  });
  const outcomeOf = (parse: () => unknown) => {
    try {
      return JSON.stringify(parse());
    } catch (error) {
      return String(error);
    }
  };
  const inPieces = (text: string, piece: number) => {
    const steps = parsingJson(text, { piece: piece });
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };
  const isSame = (text: string) => {
    for (const piece of [1, 2, 5, 1000]) {
      expect(outcomeOf(() => inPieces(text, piece))).toBe(outcomeOf(() => parseJson(text)));
    }
  };
  assert(property(texts, isSame));
  assert(property(json(), isSame));
  isSame(`[${'"1e3",1.0,{"x":-0.50},'.repeat(100)}"\\u00011.0"]`);
  isSame('['.repeat(2000) + ']'.repeat(2000));
});

test('text with more objects, lists and numbers that keep their text than a request may have is refused before it is parsed', () => {
  const parse = (text: string) => {
    const steps = parsingJson(text, { piece: 10, mostInputs: 10 });
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  };
  for (const item of ['[]', '{}', '1.0']) {
    const list = (count: number) => `[${Array.from({ length: count }, () => item).join(',')}]`;
    expect(parse(list(29))).toHaveLength(29);
    expect(() => parse(list(40))).toThrow('the request has more than 10 input values');
    expect(parseJson(list(40))).toHaveLength(40);
  }
  expect(parse(`[${'1,'.repeat(100)}"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["]`)).toHaveLength(101);
});
