/** Twins of splice.ts. */
import { expect, test } from 'vitest';
import { bodyText, splice } from './splice.ts';

const text = (value: string) => ({ kind: 'text', text: value }) as const;
const column = (step: number, index: number) => ({ kind: 'column', step, column: index }) as const;

test('columns stand between the texts, by step', () => {
  const template = [text('{"a":'), column(0, 1), text(',"b":'), column(1, 0), text('}')];
  expect(splice(template, [['x', '[1]'], ['{}']])).toBe('{"a":[1],"b":{}}');
});

test('a null column and a missing row are null', () => {
  expect(splice([column(0, 0), text(' '), column(1, 0)], [[null], []])).toBe('null null');
});

test('a long column makes the response bytes, the same ones', () => {
  const template = [text('{"a":'), column(0, 0), text(',"b":'), column(0, 1), text('}')];
  const body = splice(template, [[Buffer.from('"ä"'), '1']]);
  expect(body).toBeInstanceOf(Array);
  expect(bodyText(body)).toBe('{"a":"ä","b":1}');
});
