/** Tests the check of an image's architecture, on files of this machine and on one whose header says otherwise. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { foreignBinaries } from './architecture.ts';

const folder = mkdtempSync(join(tmpdir(), 'pergola-architecture-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An ELF header for the machine with this number. */
function header(machine: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\x7fELF');
  bytes.writeUInt16LE(machine, 18);
  return bytes;
}

test('a binary of another architecture is found in any folder, and what is no binary is not counted', () => {
  mkdirSync(join(folder, 'usr/lib'), { recursive: true });
  writeFileSync(join(folder, 'usr/lib/good.so'), header(183));
  writeFileSync(join(folder, 'usr/script'), '#!/bin/sh\n');
  writeFileSync(join(folder, 'empty'), '');
  // Absolute links of an image, such as /var/run, lead into the machine.
  symlinkSync(dirname(process.execPath), join(folder, 'usr/bin'));
  expect(foreignBinaries(folder, 'arm64')).toEqual({ count: 1, foreign: [] });
  writeFileSync(join(folder, 'usr/lib/bad.so'), header(62));
  expect(foreignBinaries(folder, 'arm64')).toEqual({
    count: 2,
    foreign: [join(folder, 'usr/lib/bad.so')],
  });
  expect(foreignBinaries(folder, 'amd64').foreign).toEqual([join(folder, 'usr/lib/good.so')]);
  expect(() => foreignBinaries(folder, 'riscv')).toThrow('amd64 or arm64');
});

test.skipIf(process.platform !== 'linux')(
  'the program of Node is for the architecture of this machine',
  () => {
    const own = join(folder, 'own');
    mkdirSync(own);
    copyFileSync(process.execPath, join(own, 'node'));
    expect(foreignBinaries(own, process.arch === 'x64' ? 'amd64' : process.arch).foreign).toEqual([]);
  },
);
