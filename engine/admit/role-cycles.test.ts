/** Tests misfit cycles of inherited roles among thousands of changes. */

import { expect, test } from 'vitest';
import { cpuMilliseconds } from '../../testing/cpu-time.ts';
import type { Change } from './change.ts';
import { cyclesIn } from './role-cycles.ts';

const put = (name: string, ...set: string[]): Change => ({
  key: `inherited_role/${name}`,
  definition: { role_name: name, role_set: set },
});
const remove = (name: string): Change => ({ key: `inherited_role/${name}`, definition: undefined });
const told = (live: readonly [string, ...string[]][], changes: readonly Change[]) =>
  [
    ...cyclesIn(
      live.map(([role_name, ...role_set]) => ({ role_name, role_set })),
      changes,
    ).values(),
  ].map((names) => names.join(' '));

test.each<[string, [string, ...string[]][], Change[], string[]]>([
  ['no cycle', [['a', 'b']], [put('b', 'c'), put('c', 'd')], []],
  ['a role with itself', [], [put('a', 'x', 'a')], ['a a']],
  ['a changed role with a live one', [['a', 'b']], [put('b', 'a')], ['b a b']],
  [
    'a cycle that the last role of a chain closes',
    [],
    [put('a', 'b'), put('b', 'c'), put('c', 'a')],
    ['c a b c'],
  ],
  ['several cycles', [['a', 'b']], [put('b', 'a'), put('c', 'd'), put('d', 'c')], ['b a b', 'd c d']],
  ['no cycle once the other role is deleted', [['a', 'b']], [remove('a'), put('b', 'a')], []],
  ['no cycle once the other role has changed', [['a', 'b']], [put('a', 'x'), put('b', 'a')], []],
  [
    'a cycle with the live form of a role whose change is rejected',
    [
      ['a', 'b'],
      ['b', 'x'],
    ],
    [put('b', 'a'), put('x', 'a')],
    ['b a b', 'x a b x'],
  ],
])('cycles of inherited roles are found: %s', (_, live, changes, cycles) => {
  expect(told(live, changes)).toEqual(cycles);
});

test('a chain of thousands of roles with hundreds of cycles is checked within two seconds', () => {
  const chain = Array.from({ length: 5000 }, (_, i) => put(`r${i}`, `r${i + 1}`));
  const cycles = Array.from({ length: 500 }, (_, i) => put(`s${i}`, `s${i}`));
  const took = cpuMilliseconds(() => {
    expect(cyclesIn([], [...chain, ...cycles, put('r5000', 'r0')]).size).toBe(501);
  });
  expect(took).toBeLessThan(2000);
});
