/** Decides which statements of one turn of the event loop are sent together on one connection.
 *  Writing to a socket is the largest cost of a small request, and everything sent on one connection in one turn is
 *  one write. But Postgres runs these statements one after the other, each in a transaction of its own. So only quick
 *  statements share a connection, and only so many that the last one does not wait longer than this process needs for
 *  a few requests. Whether a statement is quick is measured against that time too: on a busy machine everything takes
 *  longer, and sharing saves more.
 *  The duration of a statement is measured when it follows another one (connection.ts). So one in many runs of an
 *  unknown or slow statement is sent as a follower to measure it; only such runs follow it.
 *  Not here: connections themselves, and what happens when one stalls (pool.ts). */
import type { WireConnection } from './connection.ts';
import type { NamedStatement } from './statement.ts';

/** A statement is quick when it takes less than this time, or less than this process needs for this number of
 *  requests. */
const QUICK_MS = 0.5;
const QUICK_REQUESTS = 10;
/** The most work in flight on one connection, in multiples of a quick statement. */
const MAX_BACKLOG = 2;
const MAX_UNDER_WAY = 16;
/** One run in this many of a statement that is not quick follows another statement, to measure it. */
const TRY_EVERY = 32;

export class Batch {
  #connection: WireConnection | undefined;
  #startedAt = 0;
  #count = 0;
  #tries = 0;
  /** The time this process needs for a request until its statement is written, as a moving average. */
  #requestMs = 0;

  /** Returns the connection of this turn, if the statement may follow the statements on it. */
  connectionFor(statement: NamedStatement): WireConnection | undefined {
    const connection = this.#connection;
    if (!connection || connection.isReserved || connection.isClosed) return undefined;
    if (this.isQuick(statement)) return this.hasRoom(connection) ? connection : undefined;
    if (!mayShare(statement)) return undefined;
    this.#tries = (this.#tries + 1) % TRY_EVERY;
    return this.#tries === 0 ? connection : undefined;
  }

  isQuick(statement: NamedStatement): boolean {
    return mayShare(statement) && statement.tookMs !== undefined && statement.tookMs < this.#quickMs();
  }

  /** True when the connection has room for one more quick statement. */
  hasRoom({ depth, backlogMs }: WireConnection): boolean {
    return depth < MAX_UNDER_WAY && backlogMs < MAX_BACKLOG * this.#quickMs();
  }

  /** Called when a statement has been written; null for one that no other may follow. */
  wrote(connection: WireConnection, statement: NamedStatement | null): void {
    if (this.#count++ === 0) this.#startedAt = performance.now();
    if (statement && mayShare(statement)) this.#connection ??= connection;
  }

  /** Called at the end of the turn. */
  end(): void {
    if (this.#count > 1) {
      const requestMs = (performance.now() - this.#startedAt) / (this.#count - 1);
      this.#requestMs += (requestMs - this.#requestMs) / 16;
    }
    this.#connection = undefined;
    this.#count = 0;
  }

  #quickMs(): number {
    return Math.max(QUICK_MS, QUICK_REQUESTS * this.#requestMs);
  }
}

function mayShare(statement: NamedStatement): boolean {
  return statement.mayShare === true && statement.name !== '';
}
