/** Prints the environment variables that resources name and that are not set, each once. The engine has the environment of `pergola up`.
 *  In: reports of passes. Not here: what the engine does with an object whose variable is not set (engine/resolve). */
import { isReserved, parseReference, variablesOf } from '@pergola/engine/metadata';
import { crName } from '../../operator/kinds.ts';
import type { Report } from '../../operator/status/report.ts';

export function unsetVariablesOutput(
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): (report: Report) => void {
  const printed = new Set<string>();
  return ({ plan }) => {
    const users = new Map<string, string>();
    for (const { object, cr } of plan?.desired.claims.values() ?? []) {
      for (const { name } of variablesOf(object.kind, object.definition)) {
        const isUnset = parseReference(name).from === 'env' && !isReserved(name) && env[name] === undefined;
        if (isUnset && !printed.has(name)) users.set(name, crName(cr));
      }
    }
    for (const [name, owner] of users) {
      printed.add(name);
      print(`The environment variable ${name} of ${owner} is not set: set it, and start pergola up again.\n`);
    }
  };
}
