/** Answers of the API server, nested as deeply as it allows. */
import { expect, test } from 'vitest';
import { readAnswer } from './read-answer.ts';

const nested = (levels: number, inner = '1') => `${'{"a":['.repeat(levels)}${inner}${']}'.repeat(levels)}`;

test('one resource that is nested too deeply leaves the others of a list readable, digits and all', () => {
  const text = `{"items":[{"n":12345678901234567890},${nested(4000, '"}]\\"{"')},{"name":"b","deep":${nested(100)}}]}`;
  const read = readAnswer(text) as { items: readonly unknown[] };
  expect(read.items).toHaveLength(3);
  expect(JSON.stringify(read.items[0])).toBe('{"n":12345678901234567890}');
  expect(JSON.stringify(read.items[2])).toBe(`{"name":"b","deep":${nested(100)}}`);
});

test('what is not JSON is refused as before', () => {
  expect(() => readAnswer('{"a":')).toThrow();
  expect(() => readAnswer(`${nested(4000)}}`)).toThrow();
});
