/** Captures what a command prints. Not here: commands that run as processes of their own (program.ts). */
import { stripVTControlCharacters } from 'node:util';
import { vi } from 'vitest';

/** Keeps the output of this process in `text` until `vi.restoreAllMocks()`, and prints none of it. */
export function captureOutput(): { text: string } {
  const output = { text: '' };
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      output.text += String(text);
      return true;
    });
  }
  return output;
}

/** Runs a command in this process. Returns its exit code and what it printed, without colours. */
export async function runCommand(
  command: (argv: string[]) => Promise<number>,
  argv: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const printed = { out: '', err: '' };
  const spies = (['out', 'err'] as const).map((name) =>
    vi.spyOn(process[`std${name}`], 'write').mockImplementation((text) => {
      printed[name] += stripVTControlCharacters(String(text));
      return true;
    }),
  );
  try {
    return { code: await command([...argv]), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
