import { expect, test } from 'vitest';
import { stateVersionOf } from './state-version.ts';

const a = { key: 'table/a', reason: 'gone' };
const b = { key: 'table/b', reason: 'gone' };

test('equal lists have equal versions, in any order; any difference is another', () => {
  expect(stateVersionOf([a, b])).toBe(stateVersionOf([b, { ...a }]));
  const lists = [
    [],
    [a],
    [b],
    [a, b],
    [a, a],
    [{ ...a, reason: 'gon' }],
    [{ key: 'table/ag', reason: 'one' }],
  ];
  expect(new Set(lists.map(stateVersionOf)).size).toBe(lists.length);
});
