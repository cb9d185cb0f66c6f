/** The examples of RFC 7396, appendix A. */
import { expect, test } from 'vitest';
import { mergePatch } from './merge-patch.ts';

const EXAMPLES = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{}', '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
] as const;

test.each(EXAMPLES)('%s patched with %s is %s', (value, patch, result) => {
  expect(JSON.stringify(mergePatch(JSON.parse(value), JSON.parse(patch)))).toBe(result);
});

test('what the patch does not speak of stays the same value', () => {
  const value = { a: { b: 1 }, c: { d: 2 } };
  expect((mergePatch(value, { c: { e: 3 } }) as typeof value).a).toBe(value.a);
});

test('a patch that changes nothing leaves the value itself', () => {
  const value = { a: { b: [1, { c: 2 }] }, d: null };
  expect(mergePatch(value, { a: { b: [1, { c: 2 }] }, e: null })).toBe(value);
  expect(mergePatch(value, { a: { b: [1, { c: 3 }] } })).not.toBe(value);
});
