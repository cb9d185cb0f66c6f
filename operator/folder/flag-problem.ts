/** Wrong usage of a command, and how commands report an error.
 *  Out: the text on standard error, and the exit code. Not here: the flags of a command (flags.ts and each command). */

import { EngineProblem, type EngineProblemKind } from '../ports/engine-problem.ts';

/** Raised for wrong flags. The message says which, and what to write. */
export class FlagProblem extends Error {}

/** The next step after an engine gave no answer, by the kind of the problem. */
const ENGINE_HINTS: Readonly<Partial<Record<EngineProblemKind, string>>> = {
  unreachable: 'Start one with pergola up, or name another with --engine URL.',
  unauthorized:
    'Give the secret with --admin-secret or ENGINE_GRAPHQL_ADMIN_SECRET, and a header prefix other than x-engine- with --header-prefix.',
};

/** Prints the error. Returns 1; for wrong flags `usageCode`, which is 2 in commands where 2 does not stand for something else. */
export function reportFailure(command: string, error: unknown, usageCode = 2): number {
  const isFlags = error instanceof FlagProblem;
  const help = isFlags ? `See: pergola ${command} --help` : undefined;
  const next = error instanceof EngineProblem ? ENGINE_HINTS[error.kind] : help;
  const hint = next === undefined ? '' : `\n${next}`;
  process.stderr.write(
    `pergola ${command}: ${error instanceof Error ? error.message : String(error)}${hint}\n`,
  );
  return isFlags ? usageCode : 1;
}
