/** The connections to one database. A statement gets a connection of its own, except that quick reads of one moment share
 *  one (batch.ts), and any number of them where there are no more connections to have. Whoever finds none waits in line.
 *
 *  What follows on a connection waits for what is ahead. When the one ahead is at work unexpectedly long (a lock, other
 *  values), its followers are asked again elsewhere: also because a client may hold that lock and wait for one of them.
 *  Writes never follow and are never asked again.
 *
 *  Connections are taken from the front, so that those not needed grow idle and are closed.
 *  Not here: the protocol (connection.ts), the meaning of failures (execute/). Numbers: docs/adr/0006. */
import type pg from 'pg';
import { Batch } from './batch.ts';
import { cancel } from './cancel.ts';
import { Connection, ConnectionLost, type Execution } from './connection.ts';
import { type Dialing, dial, type Tls } from './dial.ts';
import type { NamedStatement, Row, Value } from './statement.ts';

export type WirePoolOptions = {
  readonly connection: Dialing;
  /** Absent: as the connection says. */
  readonly tls?: Tls;
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
  /** Of a connection, from its opening; 0 is without end. */
  readonly lifetimeMs: number;
  /** How long to wait for a connection; 0 is for ever. */
  readonly waitMs: number;
  /** How often the opening of a connection is tried again; 0 when absent. */
  readonly retries?: number;
  /** The most statements and transactions that may wait for a connection; absent: any number. */
  readonly maxWaiting?: number;
  /** Keep statements prepared, and let quick ones follow each other. Off where a pooler stands between. */
  readonly isKept: boolean;
  /** Told how long a statement took (from its sending, or the answer before it), or a wait for a connection; absent where
   *  nobody measures. */
  readonly timed?: Timed;
  /** Called with every failure of a statement or of the opening of a connection. */
  readonly failed?: FailureObserver;
};

export type FailureObserver = (failure: Error) => void;

export type Timed = (what: 'statement' | 'wait', ms: number) => void;

/** At work for longer, and its followers go elsewhere. */
const STALLED_MS = 20;
const SWEEP_MS = 1000;
/** For the request to cancel, while stopping; and otherwise. */
const CANCEL_MS = 500;
const CANCEL_WITHIN_MS = 5000;

/** When the server has no connection left, the next attempt to open one comes after this time, doubled with each refusal up to
 *  the longest pause. */
const REFUSED_MS = 50;
const LONGEST_REFUSED_MS = 2000;
/** How long statements wait for a server that has no connection left, where no wait is set and the pool has no connection. */
const REFUSED_WAIT_MS = 15_000;

/** Raised when no connection became free in time. */
export class WaitedTooLong extends Error {}

/** Raised when as many wait for a connection as may. */
export class TooManyWaiting extends Error {}

/** Raised when a statement has taken longer than it may. */
export class TimeIsUp extends Error {
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`the statement took longer than ${limitMs / 1000} s`);
    this.limitMs = limitMs;
  }
}

/** How long a result is waited for. When that is over, the statement is cancelled in Postgres; one in line is not sent at all. */
export type Patience = {
  /** Aborted when nobody waits any more. Its reason is what the statement fails with. */
  readonly signal?: AbortSignal | undefined;
  /** Fails with TimeIsUp. */
  readonly limitMs?: number | null | undefined;
};

/** The watch over a connection that is taken. */
export type TransactionWatch = {
  /** Why nobody waits any more; undefined while somebody does. */
  readonly reason: Error | undefined;
  readonly end: () => void;
};

/** Somebody in line for a connection. */
type Waiter = {
  /** The execution that waits, or a caller's own function. */
  readonly owner: unknown;
  readonly give: (connection: Connection) => void;
  readonly refuse: (reason: Error) => void;
  readonly statement: NamedStatement | null;
  readonly timer: NodeJS.Timeout | undefined;
  readonly since: number;
};

/** What has happened to a pool; read when somebody looks. */
export type PoolCounts = {
  opened: number;
  failedToOpen: number;
  waitedTooLong: number;
};

/** What is so now, in connections, and in those that wait for one. */
export type PoolState = {
  readonly active: number;
  readonly idle: number;
  readonly opening: number;
  readonly most: number;
  readonly waiting: number;
};

export class WirePool {
  readonly #options: WirePoolOptions;
  readonly #connections: Connection[] = [];
  readonly #waiting: Waiter[] = [];
  #written: Connection[] = [];
  #opening = 0;
  readonly #batch = new Batch();
  #sweep: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #closed: PromiseWithResolvers<void> | undefined;
  /** Set while the server has no connection left for this pool: it is as large as it can be until then. */
  #refused: NodeJS.Timeout | undefined;
  #pauseMs = REFUSED_MS;
  readonly counts: PoolCounts = {
    opened: 0,
    failedToOpen: 0,
    waitedTooLong: 0,
  };

  constructor(options: WirePoolOptions) {
    this.#options = options;
  }

  get state(): PoolState {
    const idle = this.#connections.filter(isFree).length;
    return {
      active: this.#connections.length - idle,
      idle,
      opening: this.#opening,
      most: this.#options.maxConnections,
      waiting: this.#waiting.length,
    };
  }

  /** The first row. Raises pg.DatabaseError and ConnectionLost, and what `patience` says. */
  run(statement: NamedStatement, values: readonly Value[], patience?: Patience): Promise<Row> {
    return new Promise((resolve, reject) => {
      let end: (() => void) | undefined;
      let reason: Error | undefined;
      const settle = this.#doneWith(resolve, reject);
      const done: Execution['done'] = (failure, row) => {
        end?.();
        execution.isFinished = true;
        if (failure && reason && isCancelled(failure)) reject(reason);
        else settle(failure, row);
      };
      const execution: Execution = { statement, values, done, wasRetried: false, isFinished: false };
      if (patience) {
        end = whenOver(patience, (why) => {
          reason = why;
          if (!this.#stopWaiting(execution)) return;
          execution.isFinished = true;
          reject(why);
        });
        if (reason) return;
      }
      this.#submit(execution);
    });
  }

  /** A connection nobody else uses until it is given back. Raises `WaitedTooLong`; `waitMs` as in the options. */
  take(waitMs = this.#options.waitMs, signal?: AbortSignal): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let end: (() => void) | undefined;
      const give = (connection: Connection) => {
        end?.();
        connection.isTaken = true;
        resolve(connection);
      };
      const refuse = (reason: Error) => {
        end?.();
        reject(reason);
      };
      if (signal) {
        end = whenOver({ signal }, (reason) => {
          this.#leaveQueue(give);
          reject(reason);
        });
        if (signal.aborted) return;
      }
      const free = this.#closed ? undefined : this.#room(null);
      if (free) give(free);
      else this.#wait(null, give, { give, refuse }, waitMs);
    });
  }

  /** Cancels what runs on a connection that is taken once nobody waits for it. */
  watchOver(connection: Connection, patience: Patience): TransactionWatch {
    let reason: Error | undefined;
    const end = whenOver(patience, (why) => {
      reason = why;
      connection.isUnawaited = true;
      this.#startRescue();
    });
    return {
      get reason() {
        return reason;
      },
      end: () => {
        end();
        connection.isUnawaited = false;
      },
    };
  }

  /** `isSpent`: it is not to be used again. */
  giveBack(connection: Connection, isSpent: boolean): void {
    if (!isSpent && connection.isDriverBusy) {
      connection.onceDriverReady(() => this.giveBack(connection, isSpent));
      return;
    }
    connection.isTaken = false;
    if (!connection.isClosed) {
      const isReusable = !isSpent && !connection.isSpent && !this.#isOld(connection);
      if (isReusable && connection.isIdle) connection.takeBack();
      else this.#drop(connection);
    }
    this.#serve();
  }

  /** Statement and values on a connection one has taken. */
  runOn(connection: Connection, statement: NamedStatement, values: readonly Value[]): Promise<Row> {
    return new Promise((resolve, reject) => {
      const done = this.#doneWith(resolve, reject);
      connection.send({ statement, values, done, wasRetried: true, isFinished: false }, this.#options.isKept);
    });
  }

  #doneWith(resolve: (row: Row) => void, reject: (failure: Error) => void): Execution['done'] {
    return (failure, row) => {
      if (!failure) return resolve(row);
      this.#options.failed?.(failure);
      reject(failure);
    };
  }

  /** Resolves when all work under way is done and every connection closed; or at `cut`, when what is left is cancelled, and
   *  soon after failed. */
  close(cut?: AbortSignal): Promise<void> {
    if (!this.#closed) {
      this.#closed = Promise.withResolvers();
      clearInterval(this.#sweep);
      this.#closeIdle();
    }
    if (cut?.aborted) void this.#cutOff();
    else cut?.addEventListener('abort', () => void this.#cutOff(), { once: true });
    return this.#closed.promise;
  }

  #submit(execution: Execution): void {
    const connection = this.#closed ? undefined : this.#room(execution.statement);
    if (connection) this.#send(connection, execution);
    else {
      const give = (later: Connection) => this.#send(later, execution);
      this.#wait(execution.statement, execution, { give, refuse: (reason) => execution.done(reason, []) });
    }
  }

  /** A connection for the statement (null: a free one, for whatever comes); undefined when it has to wait. */
  #room(statement: NamedStatement | null): Connection | undefined {
    const mayShare = statement !== null && this.#options.isKept;
    const shared = mayShare ? this.#batch.connectionFor(statement) : undefined;
    if (shared) return shared;
    const free = this.#connections.find(isFree);
    if (free || !mayShare || this.#canOpen() || !this.#batch.isQuick(statement)) return free;
    const now = performance.now();
    return this.#connections.find(
      (connection) =>
        !connection.isReserved && connection.workedOnMs(now) < STALLED_MS && this.#batch.hasRoom(connection),
    );
  }

  #send(connection: Connection, execution: Execution): void {
    if (!connection.isIdle) this.#startRescue();
    connection.send(execution, this.#options.isKept);
    this.#batch.wrote(connection, execution.statement);
  }

  #canOpen(): boolean {
    if (this.#refused) return false;
    return this.#opening + this.#connections.length < this.#options.maxConnections;
  }

  #wait(
    statement: NamedStatement | null,
    asker: unknown,
    { give, refuse }: Pick<Waiter, 'give' | 'refuse'>,
    waitMs = this.#options.waitMs,
  ): void {
    if (this.#closed) {
      refuse(new Error('the connections to the database are closed'));
      return;
    }
    if (this.#waiting.length >= (this.#options.maxWaiting ?? Number.POSITIVE_INFINITY)) {
      this.counts.waitedTooLong += 1;
      refuse(new TooManyWaiting('too many requests wait for a connection to the database'));
      return;
    }
    const timer = waitMs > 0 ? setTimeout(() => this.#giveUp(waiter), waitMs) : undefined;
    const waiter: Waiter = { owner: asker, give, refuse, statement, timer, since: performance.now() };
    this.#waiting.push(waiter);
    this.#openMore();
  }

  /** Nobody waits for it any more. It is cancelled only when Postgres works on it for longer than a quick statement takes.
   *  False when its end has to be waited for: what writes may still have been in time. */
  #stopWaiting(execution: Execution): boolean {
    const wasInLine = this.#leaveQueue(execution);
    const isRead = execution.statement.isRead === true;
    // A read that was moved from behind a slow statement may be under way on several connections.
    const isUnderWay =
      this.#connections.filter((connection) => connection.stopWaiting(execution, isRead)).length > 0;
    if (isUnderWay) this.#startRescue();
    return isRead || wasInLine || !isUnderWay;
  }

  /** False when it is not in line. */
  #leaveQueue(asker: unknown): boolean {
    const place = this.#waiting.findIndex((waiter) => waiter.owner === asker);
    if (place < 0) return false;
    clearTimeout(this.#waiting.splice(place, 1)[0]?.timer);
    return true;
  }

  #giveUp(waiter: Waiter): void {
    const place = this.#waiting.indexOf(waiter);
    if (place < 0) return;
    this.#waiting.splice(place, 1);
    this.counts.waitedTooLong += 1;
    waiter.refuse(new WaitedTooLong('no connection to the database became free in time'));
  }

  /** The line moves up as far as there is room. */
  #serve(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#room(this.#waiting[0]!.statement);
      if (!connection) break;
      const waiter = this.#waiting.shift()!;
      clearTimeout(waiter.timer);
      this.#options.timed?.('wait', performance.now() - waiter.since);
      waiter.give(connection);
    }
    this.#openMore();
    this.#closeIdle();
  }

  #openMore(): void {
    while (this.#opening < this.#waiting.length && this.#canOpen()) {
      this.#opening++;
      this.#open().then(
        (connection) => {
          this.#opening--;
          this.counts.opened += 1;
          this.#endRefusal();
          this.#connections.push(connection);
          this.#sweep ??= setInterval(() => this.#tidy(), SWEEP_MS).unref();
          this.#serve();
        },
        (reason: Error) => {
          this.#opening--;
          this.counts.failedToOpen += 1;
          if (isFull(reason)) return this.#waitForServer(reason);
          // Each in line is told by an attempt of its own.
          const waiter = this.#waiting.shift();
          clearTimeout(waiter?.timer);
          waiter?.refuse(reason);
          this.#serve();
        },
      );
    }
  }

  /** The server has no connection left: those in line wait for the connections the pool has. Where it has none, they wait for
   *  the server, for a limited time. */
  #waitForServer(reason: Error): void {
    if (!this.#refused) {
      const pauseMs = this.#pauseMs;
      this.#pauseMs = Math.min(2 * pauseMs, LONGEST_REFUSED_MS);
      this.#refused = setTimeout(() => {
        this.#refused = undefined;
        this.#serve();
      }, pauseMs);
    }
    const hasConnection = this.#connections.length + this.#opening > 0;
    const since = performance.now() - REFUSED_WAIT_MS;
    while (!hasConnection && this.#waiting[0] && this.#waiting[0].since < since) {
      const waiter = this.#waiting.shift()!;
      clearTimeout(waiter.timer);
      waiter.refuse(reason);
    }
    this.#serve();
  }

  #endRefusal(): void {
    clearTimeout(this.#refused);
    this.#refused = undefined;
    this.#pauseMs = REFUSED_MS;
  }

  async #open(): Promise<Connection> {
    return new Connection(await this.#connect(), {
      wroteTo: (connection) => this.#wroteTo(connection),
      advanced: (connection) => this.#advanced(connection),
      stale: (execution) => {
        execution.wasRetried = true;
        this.#submit(execution);
      },
      closed: (connection) => this.#forget(connection),
      answered: (ms) => this.#options.timed?.('statement', ms),
    });
  }

  async #connect(): Promise<pg.Client> {
    for (let left = this.#options.retries ?? 0; ; left--) {
      try {
        return await dial(this.#options.connection, this.#options.tls);
      } catch (error) {
        if (left <= 0 || this.#closed || isFull(error)) throw error;
      }
    }
  }

  #wroteTo(connection: Connection): void {
    if (this.#written.length === 0) setImmediate(() => this.#flush());
    this.#written.push(connection);
  }

  /** After everything the event loop had to hand out: what came together goes out together. */
  #flush(): void {
    const written = this.#written;
    this.#written = [];
    for (const connection of written) connection.flush();
    this.#batch.end();
  }

  #advanced(connection: Connection): void {
    this.#dropSpent(connection);
    if (this.#waiting.length > 0) this.#serve();
    if (this.#closed && connection.isIdle) this.#closeIdle();
  }

  #startRescue(): void {
    this.#watch ??= setInterval(() => this.#rescue(), STALLED_MS).unref();
  }

  #rescue(): void {
    const now = performance.now();
    let isNeeded = false;
    for (const connection of [...this.#connections]) {
      isNeeded ||= connection.hasUnawaited;
      if (connection.isToBeCancelled(now, STALLED_MS)) void this.#cancel(connection);
      if (connection.depth < 2 || connection.isTaken) continue;
      isNeeded = true;
      if (connection.workedOnMs(now) < STALLED_MS || !(this.#canOpen() || this.#connections.some(isFree)))
        continue;
      for (const execution of connection.abandonFollowers()) this.#submit(execution);
    }
    if (isNeeded) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** The request names a connection, not a statement. So that it cannot hit another one, whatever follows is asked elsewhere
   *  and nothing new is sent on the connection before the server has taken the request. */
  async #cancel(connection: Connection): Promise<void> {
    const cancelled = connection.cancelled(cancel(connection.client, CANCEL_WITHIN_MS));
    for (const execution of connection.abandonFollowers()) this.#submit(execution);
    await cancelled;
    this.#dropSpent(connection);
    this.#serve();
  }

  #dropSpent(connection: Connection): void {
    if (connection.isSpent && connection.isIdle && !connection.isTaken) this.#drop(connection);
  }

  #tidy(): void {
    const now = performance.now();
    for (const connection of [...this.#connections]) {
      if (!isFree(connection)) continue;
      const isUnused = now - connection.idleSince > this.#options.idleTimeoutMs;
      if (isUnused || this.#isOld(connection)) this.#drop(connection);
    }
  }

  #isOld({ openedAt }: Connection): boolean {
    const { lifetimeMs } = this.#options;
    return lifetimeMs > 0 && performance.now() - openedAt > lifetimeMs;
  }

  #drop(connection: Connection): void {
    connection.close();
    this.#remove(connection);
  }

  #forget(connection: Connection): void {
    this.#remove(connection);
    this.#serve();
  }

  #remove(connection: Connection): void {
    const place = this.#connections.indexOf(connection);
    if (place >= 0) this.#connections.splice(place, 1);
    if (this.#connections.length === 0 && this.#sweep) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
  }

  /** What is under way is cancelled first, because a statement goes on when nobody is there for its answer any more.
   *  Connections that are being opened close once they are, or have failed. */
  async #cutOff(): Promise<void> {
    this.#endRefusal();
    const reason = new ConnectionLost('it was closed before there was an answer');
    for (const { timer, refuse } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      refuse(reason);
    }
    const busy = this.#connections.filter((connection) => !isFree(connection));
    await Promise.all(busy.map(({ client }) => cancel(client, CANCEL_MS)));
    for (const connection of [...this.#connections]) connection.destroy(reason);
    this.#closed?.resolve();
  }

  /** While closing: once nobody waits, what has nothing left to do goes. */
  #closeIdle(): void {
    if (!this.#closed || this.#waiting.length > 0) return;
    for (const connection of [...this.#connections]) {
      if (isFree(connection)) this.#drop(connection);
    }
    if (this.#connections.length === 0 && this.#opening === 0) this.#closed.resolve();
  }
}

/** query_canceled. */
function isCancelled(failure: Error): boolean {
  return (failure as { readonly code?: unknown }).code === '57014';
}

/** too_many_connections: of the server, the database or the role; or of a pooler in between. */
function isFull(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === '53300' || (typeof message === 'string' && /no more connections allowed/.test(message));
}

function isFree({ isIdle, isReserved }: Connection): boolean {
  return isIdle && !isReserved;
}

/** Calls `over` once, at once where it is over already; the returned function ends that. */
function whenOver({ signal, limitMs }: Patience, over: (reason: Error) => void): () => void {
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
  const abort = () => {
    end();
    over(signal!.reason as Error);
  };
  const timer =
    limitMs == null
      ? undefined
      : setTimeout(() => {
          end();
          over(new TimeIsUp(limitMs));
        }, limitMs);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort);
  return end;
}
