/** Results are shared by those who watch the same rows in the same form, and remembered by fingerprint. */
import { expect, test } from 'vitest';
import type { TemplatePart } from '../sql/plan.ts';
import type { Row } from '../wire/statement.ts';
import { fingerprintOf } from './fingerprint.ts';
import { Result, resultOf } from './result.ts';

const template = (name: string): readonly TemplatePart[] => [
  { kind: 'text', text: `{"data":{"${name}":` },
  { kind: 'column', step: 0, column: 0 } as TemplatePart,
  { kind: 'text', text: '}}' },
];

test('the same row in the same form is one result with one buffer', () => {
  const [row, form]: [Row, readonly TemplatePart[]] = [[Buffer.from('["ü"]')], template('a')];
  const result = resultOf(form, [row]);
  expect(resultOf(form, [row])).toBe(result);
  expect(result.bytes).toBe(result.bytes);
  expect([result.text, String(result.bytes)]).toEqual(['{"data":{"a":["ü"]}}', '{"data":{"a":["ü"]}}']);
});

test('another form, an equal row of another answer, and several rows are results of their own', () => {
  const row: Row = ['1'];
  const form = template('a');
  const result = resultOf(form, [row]);
  expect(resultOf(template('b'), [row]).text).toBe('{"data":{"b":1}}');
  expect(resultOf(form, [['1']])).not.toBe(result);
  expect(resultOf(form, [row, row])).not.toBe(result);
  expect(resultOf(form, [['2']]).text).toBe('{"data":{"a":2}}');
});

test('equal texts have equal fingerprints, whether they are text or bytes', () => {
  for (const text of ['{}', `"${'ü'.repeat(1000)}"`]) {
    const one = new Result(text).fingerprint;
    expect(new Result([Buffer.from(text.slice(0, 1)), Buffer.from(text.slice(1))]).fingerprint).toBe(one);
    expect(new Result(`${text} `).fingerprint).not.toBe(one);
  }
});

const LONG = 'a'.repeat(10_000);

test.each<readonly [Row, Row, boolean]>([
  [[], [null], true],
  [['a', null], ['a'], true],
  [[null, 'a'], ['a'], false],
  [['a', 'b'], ['a","b'], false],
  [[LONG], [Buffer.from(LONG)], true],
  [[LONG], [`${LONG}b`], false],
  [['null'], [null], false],
])('fingerprints of %j and %j are the same: %s', (one, other, same) => {
  expect(fingerprintOf(one) === fingerprintOf(other)).toBe(same);
  expect(fingerprintOf(one).length).toBeLessThan(300);
});
