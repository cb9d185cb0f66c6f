/** The log of the engine: written to a file, and failed deliveries of events printed, each kind of failure once until a delivery succeeds.
 *  Says that the engine waits for its database, which a wrong URL looks like: once for each reason.
 *  In: lines of JSON from the engine. Not here: the lines (engine/observe/sinks.ts). */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';

/** The file is renamed to `engine.log.1` beyond this size. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Returns a receiver of lines that writes them to a file. Each start begins a new file. */
export function logFile(
  path: string,
  mostBytes = MOST_BYTES,
): {
  readonly write: (line: string) => void;
  readonly close: () => void;
} {
  let descriptor = openSync(path, 'w', 0o600);
  let size = 0;
  let isClosed = false;
  return {
    write: (line) => {
      // The last lines may arrive after the end of the engine's process.
      if (isClosed) return;
      if (size > mostBytes) {
        closeSync(descriptor);
        renameSync(path, `${path}.1`);
        descriptor = openSync(path, 'w', 0o600);
        size = 0;
      }
      size += writeSync(descriptor, `${line}\n`);
    },
    close: () => {
      isClosed = true;
      closeSync(descriptor);
    },
  };
}

/** The detail of a line about a delivery. */
type Delivery = {
  readonly event_name?: string;
  readonly request: { readonly method: string; readonly url: string };
  readonly response: {
    readonly status?: number;
    readonly detail?: string | { readonly status?: number } | null;
  };
};

const KINDS: Readonly<Record<string, string>> = {
  'event-trigger': 'event trigger',
  'scheduled-trigger': 'cron trigger',
};

/** Returns a receiver of lines that prints failed deliveries, and the first that succeeds after one. */
export function deliveryOutput(print: (text: string) => void): (line: string) => void {
  const failures = new Map<string, string>();
  return (line) => {
    const found = deliveryIn(line);
    if (found === undefined) return;
    const { source, failure } = found;
    if (failure === undefined) {
      if (failures.delete(source)) print(`Events of the ${source} are delivered again.\n`);
    } else if (failures.get(source) !== failure) {
      failures.set(source, failure);
      print(`An event of the ${source} was not delivered: ${failure}.\n`);
    }
  };
}

function deliveryIn(
  line: string,
): { readonly source: string; readonly failure: string | undefined } | undefined {
  // Most lines are of requests: they are not parsed.
  const type = Object.keys(KINDS).find((each) => line.includes(`"${each}"`));
  if (type === undefined) return undefined;
  const parsed = parsedLine(line);
  if (parsed?.type !== type) return undefined;
  const { event_name: name, request, response } = parsed.detail as Delivery;
  const source = name === undefined ? 'one-off scheduled events' : `${KINDS[type]} ${name}`;
  if (response.detail === undefined) return { source, failure: undefined };
  const { detail } = response;
  const status = typeof detail === 'object' ? detail?.status : undefined;
  const reason = status === undefined ? String(detail) : `it answered with status ${status}`;
  return { source, failure: `${request.method} ${request.url}: ${reason}` };
}

/** Returns a line of the log as a value; undefined for one that is no JSON, such as a message of Node.js. */
export function parsedLine(line: string): { readonly type: string; readonly detail: unknown } | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

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
