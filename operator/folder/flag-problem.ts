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

/** The help of a command, and its exit codes for wrong flags and for other errors where they are not 2 and 1. */
type CommandForm = { readonly help?: string; readonly usageCode?: number; readonly errorCode?: number };

/** Runs a command with what `parse` returns, and returns its exit code. Without flags, since they ask for help, it prints `help`. An error is
 *  printed. */
export async function runCommand<Flags>(
  name: string,
  parse: () => Flags | undefined,
  perform: (flags: Flags) => number | Promise<number>,
  { help = '', usageCode = 2, errorCode = 1 }: CommandForm = {},
): Promise<number> {
  try {
    const flags = parse();
    if (flags !== undefined) return await perform(flags);
    process.stdout.write(help);
    return 0;
  } catch (error) {
    reportFailure(name, error);
    return error instanceof FlagProblem ? usageCode : errorCode;
  }
}

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
