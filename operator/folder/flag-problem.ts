/** Wrong usage of a command, and how commands report an error.
 *  Out: the text on standard error, and the exit code. Not here: the flags of a command (flags.ts and each command). */

/** Raised for wrong flags. The message says which, and what to write. */
export class FlagProblem extends Error {}

/** Prints the error. Returns 1; for wrong flags `usageCode`, which is 2 in commands where 2 does not stand for something else. */
export function reportFailure(command: string, error: unknown, usageCode = 2): number {
  const isFlags = error instanceof FlagProblem;
  const hint = isFlags ? `\nSee: pergola ${command} --help` : '';
  process.stderr.write(
    `pergola ${command}: ${error instanceof Error ? error.message : String(error)}${hint}\n`,
  );
  return isFlags ? usageCode : 1;
}
