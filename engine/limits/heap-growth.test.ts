/** Tests in which containers the heap grows more, and that V8 has the flag. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { growHeapMore } from './heap-growth.ts';

const MIB = 2 ** 20;

test('the heap grows more where there is memory for it', () => {
  const flagsWith = (memory: number) => {
    const flags: string[] = [];
    growHeapMore(memory, (flag) => flags.push(flag));
    return flags;
  };
  expect(flagsWith(256 * MIB)).toEqual([]);
  expect(flagsWith(512 * MIB)).toEqual(['--heap-growing-percent=100']);
});

test('V8 has the flag', () => {
  expect(execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })).toContain(
    '--heap-growing-percent',
  );
});
