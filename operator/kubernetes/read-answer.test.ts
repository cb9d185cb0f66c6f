/** Tests reading responses of the API server that are nested as deeply as it allows. */
import { expect, test } from 'vitest';
import { readAnswer } from './read-answer.ts';

const nested = (levels: number, inner = '1') => `${'{"a":['.repeat(levels)}${inner}${']}'.repeat(levels)}`;

test('a list remains readable when one of its resources is nested too deeply, and numbers keep all digits', () => {
  const text = `{"items":[{"n":12345678901234567890},${nested(4000, '"}]\\"{"')},{"name":"b","deep":${nested(100)}}]}`;
  const read = readAnswer(text) as { items: readonly unknown[] };
  expect(read.items).toHaveLength(3);
  expect(JSON.stringify(read.items[0])).toBe('{"n":12345678901234567890}');
  expect(JSON.stringify(read.items[2])).toBe(`{"name":"b","deep":${nested(100)}}`);
});

test('a response that is not JSON is an error', () => {
  expect(() => readAnswer('{"a":')).toThrow();
  expect(() => readAnswer(`${nested(4000)}}`)).toThrow();
});
