/** Which statements of one turn of the event loop go out together on one connection.
 *
 *  Writing to a socket is what small requests cost the most, and what is sent on one connection in one turn is one write.
 *  But Postgres works on it one after the other, so only reads that are quick go together, and only so many that the last
 *  does not wait longer than a few requests take this process. Quick is measured against that too, not against a clock
 *  alone: on a busy machine everything takes longer, and sharing saves the more.
 *
 *  How long a statement takes is learnt where it follows another (connection.ts), so one in many runs of a statement that
 *  is unknown, or was slow, follows to find out; nothing but such tries follows it.
 *  Not here: connections themselves, and what happens when one stalls (pool.ts). */
import type { Connection } from './connection.ts';
import type { NamedStatement } from './statement.ts';

/** A statement that takes no longer is quick; nor is one that takes no longer than so many requests take us. */
const QUICK_MS = 0.5;
const QUICK_REQUESTS = 10;
/** How much of the quick may be under way on one connection. */
const MOST_BACKLOG = 2;
const MOST_UNDER_WAY = 16;
/** One run in so many of a statement that is not quick. */
const TRY_EVERY = 32;

export class Batch {
  #connection: Connection | undefined;
  #startedAt = 0;
  #count = 0;
  #tries = 0;
  /** What a request takes this process until its statement is written, a moving average. */
  #requestMs = 0;

  /** The connection of this turn, if the statement may follow what is on it. */
  connectionFor(statement: NamedStatement): Connection | undefined {
    const connection = this.#connection;
    if (!connection || connection.isReserved || connection.isClosed) return undefined;
    if (this.isQuick(statement)) return this.hasRoom(connection) ? connection : undefined;
    if (!isKept(statement)) return undefined;
    this.#tries = (this.#tries + 1) % TRY_EVERY;
    return this.#tries === 0 ? connection : undefined;
  }

  isQuick(statement: NamedStatement): boolean {
    return isKept(statement) && statement.tookMs !== undefined && statement.tookMs < this.#quickMs();
  }

  /** For one more quick statement. */
  hasRoom({ depth, backlogMs }: Connection): boolean {
    return depth < MOST_UNDER_WAY && backlogMs < MOST_BACKLOG * this.#quickMs();
  }

  /** A statement has been written. */
  wrote(connection: Connection, statement: NamedStatement): void {
    if (this.#count++ === 0) this.#startedAt = performance.now();
    if (isKept(statement)) this.#connection ??= connection;
  }

  /** The turn is over. */
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

function isKept({ isRead, name }: NamedStatement): boolean {
  return isRead === true && name !== '';
}
