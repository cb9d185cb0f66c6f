/** A command whose output nobody reads any more, as in `pergola validate | head -1`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('pergola.mjs', import.meta.url));

/** Runs a command whose standard output is closed at once. */
async function withoutReader(...argv: readonly string[]): Promise<{ code: number | null; err: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, err };
}

test.each([
  ['help', 0],
  ['version', 0],
])('%s ends without an error', async (command, code) => {
  expect(await withoutReader(command)).toEqual({ code, err: '' });
});

test('a command keeps its exit code', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-output-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'note.yaml');
  writeFileSync(file, 'apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata: {name: note}\nspec: {}\n');
  expect(await withoutReader('validate', '-f', file)).toEqual({ code: 1, err: '' });
});
