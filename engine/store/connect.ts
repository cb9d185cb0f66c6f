/** Waits for the metadata database at start, because containers start in any order. Retries with growing pauses, reports each failed
 *  attempt, and gives up with one clear error. Not here: connections that break later (watch.ts, database/pool.ts). */

import { setTimeout as sleep } from 'node:timers/promises';
import { optionAddress } from '../database/connect.ts';
import type { ConnectionTarget } from '../database/connection-string.ts';
import { isNotConnected } from '../database/pool.ts';
import { thrownMessage } from '../errors/engine-error.ts';

type WaitOptions = {
  /** The name of the database in the error: host and database, never the password. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly onAttemptFailed: (attempt: number, reason: string) => void;
};

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3_000;

/** Codes that retrying cannot fix: wrong password, unknown role, a certificate that is not trusted. A missing database may still be
 *  created. */
const PERMANENT = /^(28P01|28000|ERR_TLS_CERT.*|.*CERT(_.*)?|UNABLE_TO_.*)$/;

/** Runs `attempt` until it succeeds, and returns its result. Throws other errors, permanent ones, and an error that names the database once `timeoutMs` is over. */
export async function retryUntilReachable<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const deadline = performance.now() + options.timeoutMs;
  for (let count = 1, pause = FIRST_PAUSE_MS; ; count++, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      const reason = reasonOf(error);
      if (PERMANENT.test(codeOf(error) ?? '') || performance.now() + pause > deadline) {
        throw new Error(`cannot reach the metadata database ${options.name}: ${reason}`, { cause: error });
      }
      options.onAttemptFailed(count, reason);
      await sleep(pause);
    }
  }
}

/** Returns `host:port/database` of a connection string, several hosts separated by commas. Raises ConnectionStringError. */
export function nameOfDatabase(url: string): string {
  return nameOfTarget(optionAddress(url).target);
}

/** Returns `host:port/database` of a target, without its user. */
export function nameOfTarget({ hosts, database }: ConnectionTarget): string {
  const names = hosts.map(
    ({ host, address, port }) => `${host ?? address ?? 'localhost'}${port === null ? '' : `:${port}`}`,
  );
  return `${names.join(',')}${database === null ? '' : `/${database}`}`;
}

/** True when the error is a failure of the connection, as opposed to a rejected statement or an ERRORS row. */
export function isUnreachable(error: unknown): boolean {
  if (isNotConnected(error)) return true;
  const code = codeOf(error);
  if (code === undefined) return /connect|terminated|timeout/i.test(reasonOf(error));
  // Codes of Node (ECONNREFUSED), and SQLSTATE classes: connection, authorization, shutdown, no database.
  return PERMANENT.test(code) || /^E[A-Z]/.test(code) || /^(08|28|57P|53|3D)/.test(code);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function reasonOf(error: unknown): string {
  // A connection refused by both ::1 and 127.0.0.1 is an AggregateError without a message.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return thrownMessage(error);
}
