/** No whole number of the document or of an argument is without bounds. */
import { expect, test } from 'vitest';
import { OPERATION_NAMES, OPERATIONS } from '../operations.ts';
import { asJsonSchema, type JsonSchema } from '../walk-schema.ts';
import { OneOffEvent } from './event.ts';
import { Metadata } from './metadata.ts';
import { hoursAgo, LONGEST_MS, retriesAtOnce, timerMs, timerSeconds } from './number.ts';

function numbersIn(schema: JsonSchema, path: string): readonly (readonly [string, JsonSchema])[] {
  if (schema.type === 'integer' || schema.type === 'number') return [[path, schema]];
  const inner = [
    ...Object.entries({ ...schema.properties, ...schema.patternProperties }),
    ...(schema.anyOf ?? []).map((branch) => ['', branch] as const),
    ...(schema.items ? [['[]', schema.items] as const] : []),
  ];
  return inner.flatMap(([key, field]) => numbersIn(field, key === '' ? path : `${path}.${key}`));
}

const NUMBERS = [
  ...OPERATION_NAMES.flatMap((name) => numbersIn(asJsonSchema(OPERATIONS[name].args), name)),
  ...numbersIn(asJsonSchema(Metadata), 'metadata'),
  ...numbersIn(asJsonSchema(OneOffEvent), 'event'),
].filter(([, { const: only }]) => only === undefined);

test('every number is a whole one between bounds that JavaScript and a bigint have', () => {
  const unbound = NUMBERS.filter(
    ([, { type, minimum = -Infinity, maximum = Infinity }]) =>
      type !== 'integer' || minimum < 0 || !Number.isSafeInteger(maximum),
  );
  expect(unbound.map(([path]) => path)).toEqual([]);
  expect(NUMBERS.length).toBeGreaterThan(50);
});

test('what is too long for a timer is waited for as long as can be', () => {
  expect([timerMs(60), timerMs(9_999_999_999)]).toEqual([60_000, LONGEST_MS]);
  expect([timerSeconds(60), timerSeconds(9_999_999_999)]).toEqual([60, 2_147_483]);
  expect([hoursAgo(24), hoursAgo(Number.MAX_SAFE_INTEGER)]).toEqual([24, 876_600]);
  expect([retriesAtOnce(3), retriesAtOnce(1e9)]).toEqual([3, 100]);
});
