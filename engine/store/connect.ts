/** Waits for the metadata database at start: containers start in any order. Retries with growing pauses, says so at each
 *  attempt, gives up with one clear error. Not here: connections that break later (watch.ts, database/pool.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseConnectionString } from '../database/connection-string.ts';

export type WaitOptions = {
  /** How it is called in the error: host and database, never the password. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly onAttemptFailed: (attempt: number, reason: string) => void;
};

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3_000;

/** SQLSTATEs another attempt will not cure: wrong password, no such role. (A missing database may still be created.) */
const HOPELESS = new Set(['28P01', '28000']);

/** Runs `attempt` until it succeeds; its result. */
export async function waitFor<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const deadline = performance.now() + options.timeoutMs;
  for (let count = 1, pause = FIRST_PAUSE_MS; ; count++, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      const reason = reasonOf(error);
      if (isHopeless(error) || performance.now() + pause > deadline) {
        throw new Error(`cannot reach the metadata database ${options.name}: ${reason}`, { cause: error });
      }
      options.onAttemptFailed(count, reason);
      await sleep(pause);
    }
  }
}

/** `host:port/database` of a connection string, several hosts separated by commas. Raises ConnectionStringError. */
export function nameOfDatabase(url: string): string {
  const { hosts, database } = parseConnectionString(url.trim());
  const names = hosts.map(({ host, port }) => `${host ?? 'localhost'}${port === null ? '' : `:${port}`}`);
  return `${names.join(',')}${database === null ? '' : `/${database}`}`;
}

/** Trouble with the connection, as opposed to a wrong statement or an ERRORS row. */
export function isUnreachable(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return /connect|terminated|timeout/i.test(reasonOf(error));
  // Node's own codes (ECONNREFUSED), and SQLSTATE classes: connection, authorization, shutdown, no database.
  return /^E[A-Z]/.test(code) || /^(08|28|57P|53|3D)/.test(code);
}

function isHopeless(error: unknown): boolean {
  return HOPELESS.has(codeOf(error) ?? '');
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function reasonOf(error: unknown): string {
  // A refused connection to both ::1 and 127.0.0.1 is an AggregateError without a message of its own.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
