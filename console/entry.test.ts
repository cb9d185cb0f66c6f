/** Tests the objects that users enter as JSON. */
import { expect, test } from 'vitest';
import { objectIn } from './page/entry.js';
import { variablesIn } from './page/headers.js';

const SENTENCE = 'The key of a row is JSON: {"id": 1}';

test('an object keeps all digits of its numbers', () => {
  const text = '{"id":9007199254740993}';
  expect(JSON.stringify(objectIn(text, SENTENCE))).toBe(text);
});

test.each(['', '1', 'null', '[1]', 'id=1', '{'])('%j is answered with what to write', (text) => {
  expect(() => objectIn(text, SENTENCE)).toThrow(SENTENCE);
});

test('session variables may be entered without the prefix of their names', () => {
  expect(variablesIn('x-engine-', '{"user-id": 1, "X-Engine-Team": "a"}')).toEqual({
    'x-engine-user-id': '1',
    'x-engine-team': 'a',
  });
});
