/** Captures what a command prints. Not here: commands that run as processes of their own (program.ts). */
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
