/** Cycles of inherited roles among thousands of changes. */

import { expect, test } from 'vitest';
import { cpuMilliseconds } from '../../testing/cpu-time.ts';
import type { Decision } from '../decide/decide.ts';
import type { Claim } from '../decide/desired.ts';
import { cyclesIn } from './role-cycles.ts';

const put = (name: string, ...set: string[]): Decision => {
  const key = `inherited_role/${name}`;
  const definition = { role_name: name, role_set: set };
  const object = { key, kind: 'inherited_role', parent: null, definition };
  return { key, action: 'update', claim: { object } as unknown as Claim };
};
const remove = (name: string): Decision => ({ key: `inherited_role/${name}`, action: 'delete' });
const told = (live: readonly [string, ...string[]][], changes: readonly Decision[]) =>
  [
    ...cyclesIn(
      live.map(([role_name, ...role_set]) => ({ role_name, role_set })),
      changes,
    ).values(),
  ].map((names) => names.join(' '));

test.each<[string, [string, ...string[]][], Decision[], string[]]>([
  ['none', [['a', 'b']], [put('b', 'c'), put('c', 'd')], []],
  ['with itself', [], [put('a', 'x', 'a')], ['a a']],
  ['with a live role', [['a', 'b']], [put('b', 'a')], ['b a b']],
  ['the last of a chain closes it', [], [put('a', 'b'), put('b', 'c'), put('c', 'a')], ['c a b c']],
  ['each of several', [['a', 'b']], [put('b', 'a'), put('c', 'd'), put('d', 'c')], ['b a b', 'd c d']],
  ['none once the other is deleted', [['a', 'b']], [remove('a'), put('b', 'a')], []],
  ['none once the other has changed', [['a', 'b']], [put('a', 'x'), put('b', 'a')], []],
  [
    'a refused change leaves the live form',
    [
      ['a', 'b'],
      ['b', 'x'],
    ],
    [put('b', 'a'), put('x', 'a')],
    ['b a b', 'x a b x'],
  ],
])('%s', (_, live, changes, cycles) => {
  expect(told(live, changes)).toEqual(cycles);
});

test('a chain of thousands of roles with hundreds of cycles takes no time', () => {
  const chain = Array.from({ length: 5000 }, (_, i) => put(`r${i}`, `r${i + 1}`));
  const cycles = Array.from({ length: 500 }, (_, i) => put(`s${i}`, `s${i}`));
  const took = cpuMilliseconds(() => {
    expect(cyclesIn([], [...chain, ...cycles, put('r5000', 'r0')]).size).toBe(501);
  });
  expect(took).toBeLessThan(2000);
});
