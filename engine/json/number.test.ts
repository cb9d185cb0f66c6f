/** Numbers and how they were written. */
import { expect, test } from 'vitest';
import { isNumber, isSameAmount, nearestNumber, numberFrom, numberText, wholeText } from './number.ts';

test.each(['0', '-1', '1.5', '123456789012345680000', '1e+21', '1e-7'])(
  '%s is a number of JavaScript',
  (text) => {
    expect(numberFrom(text)).toBe(Number(text));
  },
);

test.each(['1.0', '-0', '1e3', '9007199254740993', '1E400', '0.1000000000000000055'])(
  '%s keeps its text, and is a number to whoever asks',
  (text) => {
    const value = numberFrom(text);
    expect(JSON.stringify({ value })).toBe(`{"value":${text}}`);
    expect([isNumber(value), numberText(value), nearestNumber(value)]).toEqual([true, text, Number(text)]);
  },
);

test('nothing else is a number', () => {
  for (const value of [null, undefined, '1', true, [], {}, { rawJSON: '1' }]) {
    expect([isNumber(value), numberText(value), nearestNumber(value)]).toEqual([false, undefined, value]);
  }
});

test.each([
  ['1.0', '1'],
  ['-1.50e1', '-15'],
  ['1e3', '1000'],
  ['12345678901234567890', '12345678901234567890'],
  ['1000e-3', '1'],
  ['0.00', '0'],
  ['-0', '0'],
])('%s is the whole number %s', (text, whole) => {
  expect(wholeText(numberFrom(text))).toBe(whole);
});

test.each(['1.5', '9007199254740992.5', '1e-3', '1e400', '1e999999999'])(
  '%s is none of an integer type',
  (text) => {
    expect(wholeText(numberFrom(text))).toBeUndefined();
  },
);

test('numbers are equal whatever their spelling, and different even if JavaScript rounds them to the same', () => {
  const same = (a: string, b: string) => isSameAmount(numberFrom(a), numberFrom(b));
  expect(same('1.0', '1')).toBe(true);
  expect(same('1.50', '1.5')).toBe(true);
  expect(same('9007199254740993', '9007199254740992')).toBe(false);
  expect(isSameAmount('1', 1)).toBe(false);
});
