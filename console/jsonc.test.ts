/** Tests the JSON of the editors of variables and headers. */
import { expect, test } from 'vitest';
import { tryParseJSONC } from './page/jsonc.js';

test('numbers keep all digits, and comments and trailing commas are no mistakes', () => {
  const text =
    '{\n  // "a"\n  "id": 9007199254740993, /* , } */ "price": [1.10,],\n  "url": "https://a,}",\n}';
  expect(JSON.stringify(tryParseJSONC(text))).toBe(
    '{"id":9007199254740993,"price":[1.10],"url":"https://a,}"}',
  );
});

test.each([undefined, '', ' // nothing', 'null'])('%j has no object', (text) => {
  expect(tryParseJSONC(text)).toBeUndefined();
});

test.each([
  ['{"a": }', /^are invalid JSON: .*\.$/],
  ['/* a\n */ {b: 1}', /line 2 column 6/],
  ['[1]', /^are not a JSON object\.$/],
  ['1.10', /^are not a JSON object\.$/],
  ['"a"', /^are not a JSON object\.$/],
])('%s is refused', (text, problem) => {
  expect(() => tryParseJSONC(text)).toThrow(problem);
});
