import { expect, test } from 'vitest';
import { waitMsOf } from './prefer.ts';

test.each([
  ['wait=2', 2000],
  ['WAIT = 10', 10_000],
  ['wait="3"', 3000],
  ['respond-async, wait=4', 4000],
  ['wait=5; foo=bar', 5000],
  ['wait=0', 0],
  [['respond-async', 'wait=6'], 6000],
  ['wait=7, wait=8', 7000],
])('%o is %i ms', (header, ms) => {
  expect(waitMsOf(header)).toBe(ms);
});

test.each([
  undefined,
  '',
  'wait',
  'wait=',
  'wait=x',
  'wait=-1',
  'wait=1.5',
  'wait=1e3',
  'awaits=3',
  'wait=99999999',
])('%o is no limit', (header) => {
  expect(waitMsOf(header)).toBeUndefined();
});
