/** Base64 of JSON, opened. */
import { expect, test } from 'vitest';
import { opened } from './opaque.ts';

test('what was put in comes out, with all its digits', () => {
  expect(opened(btoa('{"a" : [1, "x", null]}'))).toEqual({ a: [1, 'x', null] });
  expect(JSON.stringify(opened(btoa('[9007199254740993, 0.10000000000000000555]')))).toBe(
    '[9007199254740993,0.10000000000000000555]',
  );
  expect(opened(Buffer.from('"ü 📚"').toString('base64'))).toBe('ü 📚');
});

test.each(['', 'random', '%', btoa('{'), btoa('1 2')])('%j holds nothing', (text) => {
  expect(opened(text)).toBeUndefined();
});
