/** The keys of the named values, from the options --values-key and --values-key-file. The file is read again whenever values are, so a
 *  key is rotated without a restart.
 *  Not here: what keys do (seal.ts). Reference: docs/guides/secrets.md. */
import { readFileSync } from 'node:fs';
import { parseKeys, type ValueKey } from './seal.ts';

type KeyOptions = {
  /** Keys separated by commas: the first encrypts, all decrypt. */
  readonly valuesKey?: string | undefined;
  /** The path of a file with keys, one a line. Its keys come before those of `valuesKey`. */
  readonly valuesKeyFile?: string | undefined;
};

/** Returns a function that reads the keys. The first call throws for a file that cannot be read or a key that is too short; later calls
 *  then return the keys of the previous call. A file that does not exist has no keys: the Secret of a mount may be created later. */
export function keyReader({ valuesKey, valuesKeyFile }: KeyOptions): () => readonly ValueKey[] {
  let previous: readonly ValueKey[] | undefined;
  return () => {
    try {
      const fromFile = valuesKeyFile === undefined ? '' : contentOf(valuesKeyFile);
      previous = parseKeys([fromFile, valuesKey ?? ''].join('\n'));
    } catch (error) {
      if (previous === undefined) throw error;
    }
    return previous;
  };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
