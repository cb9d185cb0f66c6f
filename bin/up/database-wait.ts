/** Says that the engine waits for its database, which a wrong URL looks like: once for each reason. In: lines of the log of the engine.
 *  Not here: how long it waits (engine/state/state.ts), the log (engine-log.ts). */
import { parsedLine } from './engine-log.ts';

const KIND = 'metadata database unreachable';

type Detail = { readonly kind?: string; readonly reason?: string };

/** Returns a receiver of lines. */
export function databaseWaitOutput(print: (text: string) => void): (line: string) => void {
  const reasons = new Set<string>();
  return (line) => {
    // Most lines are of requests: they are not parsed.
    if (!line.includes(`"${KIND}"`)) return;
    const { kind, reason } = (parsedLine(line)?.detail ?? {}) as Detail;
    if (kind !== KIND || reason === undefined || reasons.has(reason)) return;
    reasons.add(reason);
    print(`Waiting for the database: ${reason}.\n`);
  };
}
