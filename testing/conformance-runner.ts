/** The black-box conformance cases of ../shared/conformance and their runner, which is a program. In: the folder. Out: its arguments, and the
 *  environment of a server for a group of cases. Not here: what is done with the results (.ci/conformance.ts, citus/conformance.ts). */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The admin secret of servers that the cases are sent to. */
export const SECRET = 'conformance';

/** Options whose default is safer here than in the reference, which the cases assume unless their group says otherwise. */
export const REFERENCE_DEFAULTS = {
  ENGINE_GRAPHQL_ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'false',
  ENGINE_GRAPHQL_COUNT_WITHOUT_AGGREGATIONS: 'true',
};

export type Runner = { readonly program: string; readonly cases: string };

export function runnerIn(folder: string): Runner {
  return { program: join(folder, 'run.mjs'), cases: join(folder, 'cases') };
}

/** Returns the environment of a group's server, which the runner prints as `export NAME='value'` lines. */
export function environmentOf(
  { program, cases }: Runner,
  group: string,
  jwtKeys: string,
): Record<string, string> {
  const text = execFileSync(
    'node',
    [program, '--cases', cases, '--admin-secret', SECRET, '--jwt-keys', jwtKeys, '--print-env', group],
    { encoding: 'utf8' },
  );
  return Object.fromEntries(
    [...text.matchAll(/^export (\w+)='(.*)'$/gm)].map((match) => [
      match[1]!,
      match[2]!.replaceAll("'\\''", "'"),
    ]),
  );
}
