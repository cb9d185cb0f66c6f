/** The connections to one database. A statement gets a connection of its own, but quick reads of one turn share one
 *  (batch.ts), and when no more connections can be opened any number of quick reads do. A statement without a
 *  connection waits in a queue.
 *  Statements on a connection wait for those before them. When the oldest one takes unexpectedly long (a lock,
 *  different values) while other connections answer, it is cancelled, and sent again alone: those behind it have not
 *  begun, and go on. This also resolves a deadlock, where a client holds that lock and waits for one of them.
 *  Nothing runs twice because Postgres is slow.
 *  Connections are taken from the front of the list, so that unneeded ones become idle and are closed.
 *  Not here: the protocol (connection.ts), the meaning of errors (execute/). Numbers: docs/adr/0006. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { CancelSignal } from '../limits/cancel-signal.ts';
import type { AnswerHolding } from '../limits/memory-budget.ts';
import { TimerWheel } from '../limits/timer-wheel.ts';
import { Batch } from './batch.ts';
import { cancel } from './cancel.ts';
import { ConnectionLost, WireConnection } from './connection.ts';
import { type Dialing, dial, followsPrimary } from './dial.ts';
import { Execution } from './execution.ts';
import { type Patience, whenOver } from './patience.ts';
import type { Tls } from './socket.ts';
import type { NamedStatement, Row, Value } from './statement.ts';

export type WirePoolOptions = {
  readonly connection: Dialing;
  /** Overrides the encryption of the connection. */
  readonly tls?: Tls;
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
  /** The longest life of a connection; 0 means unlimited. */
  readonly lifetimeMs: number;
  /** The longest wait for a connection; 0 means unlimited. */
  readonly waitMs: number;
  /** How often opening a connection is retried; 0 when absent. */
  readonly retries?: number;
  /** The most statements and transactions that may wait for a connection; unlimited when absent. */
  readonly maxWaiting?: number;
  /** True when statements are kept prepared and quick ones may share a connection. False behind a connection pooler. */
  readonly isKept: boolean;
  /** Called with the duration of a statement (from sending it, or from the answer before it) or of a wait for a
   *  connection. */
  readonly timed?: Timed;
  /** Called with every error of a statement or of opening a connection. */
  readonly failed?: FailureObserver;
  /** Runs a statement in a new session; raises `failure` when there is none. Absent: such statements fail. */
  readonly runAfresh?: (
    statement: NamedStatement,
    values: readonly Value[],
    patience: Patience,
    failure: Error,
  ) => Promise<Row>;
};

export type FailureObserver = (failure: Error) => void;

export type Timed = (what: 'statement' | 'wait', ms: number) => void;

/** How often connections are looked at while statements wait behind others, or are to be cancelled. A statement is not cancelled, and none
 *  is sent behind it, when it has run for longer. */
const LOOK_MS = 20;
/** While this many statements are at work that have not run for longer, another connection is opened only for one that has waited for
 *  so long: with more at once, Postgres answers each of them later. */
const ENOUGH_AT_WORK = 10;
/** A statement that others wait for is cancelled after this time if another connection has answered a later one, and after the second
 *  time in any case: then all connections may be slow. */
const STALLED_MS = 250;
const STALLED_WITHOUT_ANSWERS_MS = 1000;
/** The accuracy of time limits. */
const TICK_MS = 25;
const SWEEP_MS = 1000;
/** Time limits of a request to cancel: while closing, and otherwise. */
const CANCEL_MS = 500;
const CANCEL_WITHIN_MS = 5000;

/** When the server has no connection left, the next attempt to open one comes after this time. It is doubled with
 *  each refusal, up to the longest pause. */
const REFUSED_MS = 50;
const LONGEST_REFUSED_MS = 2000;
/** How long statements wait for a server without a free connection, when no wait is configured and the pool has no
 *  connection. */
const REFUSED_WAIT_MS = 15_000;

/** A statement that has failed in a new session, too, is not repeated again for this time. */
const FAILED_AFRESH_MS = 1000;
/** The most new sessions that may be of no use, in a time. More are not opened for statements that fail. */
const MOST_USELESS = 60;
const USELESS_WITHIN_MS = 10_000;
/** How long the new connection of a repetition waits for the server to have one. */
const NEW_CONNECTION_MS = 2000;

/** The least age of a connection whose server may have become a standby. */
const DEMOTED_AFTER_MS = 500;

/** Raised when no connection became free in time. */
export class WaitedTooLong extends Error {}

/** Raised when the maximum number of statements already waits for a connection. */
export class TooManyWaiting extends Error {}

/** Watches over the transaction on a taken connection. */
export type TransactionWatch = {
  /** The reason why the caller no longer waits; undefined while it does. */
  readonly reason: Error | undefined;
  readonly end: () => void;
};

/** A statement or transaction in the queue for a connection. */
type Waiter = {
  /** The identity of the waiter: the execution, or a function of the caller. */
  readonly owner: unknown;
  readonly give: (connection: WireConnection) => void;
  readonly refuse: (reason: Error) => void;
  readonly statement: NamedStatement | null;
  readonly timer: NodeJS.Timeout | undefined;
  readonly since: number;
};

/** Counters of a pool, read when metrics are scraped. */
export type PoolCounts = {
  opened: number;
  failedToOpen: number;
  waitedTooLong: number;
};

/** The current number of connections, and of waiters for one. */
export type PoolState = {
  readonly active: number;
  readonly idle: number;
  readonly opening: number;
  readonly most: number;
  readonly waiting: number;
};

export class WirePool {
  readonly #options: WirePoolOptions;
  readonly #connections: WireConnection[] = [];
  readonly #waiting: Waiter[] = [];
  #written: WireConnection[] = [];
  #opening = 0;
  readonly #batch = new Batch();
  #sweep: NodeJS.Timeout | undefined;
  #rescueTimer: NodeJS.Timeout | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  readonly #wheel = new TimerWheel(TICK_MS);
  /** The latest time at which Postgres began to work on a statement that it has answered. */
  #answeredSince = 0;
  #closed: PromiseWithResolvers<void> | undefined;
  /** Set while the server has no connection left; until then the pool does not grow. */
  #refused: NodeJS.Timeout | undefined;
  #pauseMs = REFUSED_MS;
  /** The number of new sessions that were of no use since a time. */
  #useless = { count: 0, since: 0 };
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

  /** Returns the first row. Raises pg.DatabaseError, ConnectionLost, and the errors of `patience`. */
  run(statement: NamedStatement, values: readonly Value[], patience?: Patience): Promise<Row> {
    return new Promise((resolve, reject) => {
      const settle = { resolve, reject: this.#failing(reject) };
      const execution = new Execution(statement, values, settle, 'alone', patience?.holding);
      if (patience) execution.waitFor(patience, this.#wheel, this.#giveUpOn);
      if (!execution.isGivenUp) this.#submit(execution);
    });
  }

  /** Takes a connection for a transaction until it is given back. Raises `WaitedTooLong`; `waitMs` is as in the
   *  options. */
  take(waitMs = this.#options.waitMs, signal?: CancelSignal): Promise<WireConnection> {
    return new Promise((resolve, reject) => {
      let end: (() => void) | undefined;
      const give = (connection: WireConnection) => {
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
      const free = this.#closed ? undefined : this.#connectionFor(null);
      if (free) give(free);
      else this.#wait(null, give, { give, refuse }, waitMs);
    });
  }

  /** Cancels what runs on a taken connection once the caller no longer waits for it. */
  watchOver(connection: WireConnection, patience: Patience): TransactionWatch {
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

  /** Returns a taken connection to the pool, or closes it with `isSpent`. */
  giveBack(connection: WireConnection, isSpent: boolean): void {
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
    this.#serveQueue();
  }

  /** Runs a statement on a taken connection. */
  runOn(
    connection: WireConnection,
    statement: NamedStatement,
    values: readonly Value[],
    {
      isKept = this.#options.isKept,
      holding,
    }: { readonly isKept?: boolean; readonly holding?: AnswerHolding | undefined } = {},
  ): Promise<Row> {
    return new Promise((resolve, reject) => {
      const settle = { resolve, reject: this.#failing(reject) };
      connection.send(new Execution(statement, values, settle, 'in transaction', holding), isKept);
    });
  }

  /** Opens a connection and takes it. Raises what the attempt raises. */
  async takeNew(): Promise<WireConnection> {
    const began = performance.now();
    for (;;) {
      if (this.#closed) throw new ConnectionLost('it was closed');
      this.#opening++;
      try {
        const connection = await this.#open();
        connection.isTaken = true;
        this.#add(connection);
        return connection;
      } catch (error) {
        this.counts.failedToOpen += 1;
        // The connection that this one replaces may not have ended on the server.
        if (!isFull(error) || performance.now() - began > NEW_CONNECTION_MS) throw error;
        await sleep(REFUSED_MS);
      } finally {
        this.#opening--;
      }
    }
  }

  /** Closes the connections that were opened before a time, as soon as they are idle: what their sessions have cached is out of date. */
  retire(before = performance.now()): void {
    for (const each of [...this.#connections]) {
      if (each.openedAt >= before) continue;
      each.isSpent = true;
      this.#dropSpent(each);
    }
    this.#serveQueue();
  }

  /** True when it may help to run the statement in a new session. */
  mayRunAfresh({ failedAfreshAt = Number.NEGATIVE_INFINITY }: NamedStatement): boolean {
    const now = performance.now();
    if (now - this.#useless.since > USELESS_WITHIN_MS) this.#useless = { count: 0, since: now };
    return now - failedAfreshAt >= FAILED_AFRESH_MS && this.#useless.count < MOST_USELESS;
  }

  /** Called when a statement has failed in a new session, too. */
  failedAfresh(statement: NamedStatement): void {
    statement.failedAfreshAt = performance.now();
    this.#useless.count += 1;
  }

  /** Repeats an execution that has failed because of what the session of a connection has cached. Nothing of it was written. */
  #repeatAfresh(connection: WireConnection, execution: Execution, failure: Error): boolean {
    const { runAfresh } = this.#options;
    const { statement, values } = execution;
    if (!runAfresh || execution.isCommand || !this.mayRunAfresh(statement)) return false;
    connection.isSpent = true;
    runAfresh(statement, values, execution.handOver(), failure).then(
      (row) => execution.done(null, row),
      (error: Error) => execution.done(error, []),
    );
    return true;
  }

  /** Called when a server refused to write. If only a primary is accepted, closes the connections that were opened to this one, and
   *  returns true. The server of a new connection was a primary just now, so there the statement itself has to be read-only. */
  leave(connection: WireConnection): boolean {
    if (!followsPrimary(this.#options.connection)) return false;
    if (performance.now() - connection.openedAt < DEMOTED_AFTER_MS) return false;
    if (connection.isSpent) return true;
    for (const each of [...this.#connections]) {
      each.isSpent = true;
      this.#dropSpent(each);
    }
    return true;
  }

  /** Submits an execution of which nothing has run, on a connection of its own: behind another one it could fail with it again. */
  #again(execution: Execution): void {
    execution.isSingle = true;
    execution.mayBeHit = false;
    this.#submit(execution);
  }

  /** Returns `reject` that reports the failure first. */
  #failing(reject: (failure: Error) => void): (failure: Error) => void {
    const { failed } = this.#options;
    if (!failed) return reject;
    return (failure) => {
      failed(failure);
      reject(failure);
    };
  }

  /** Resolves when all work has ended and every connection is closed. At `cut`, the remaining work is cancelled and
   *  fails shortly after. */
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
    const statement = execution.isSingle ? null : execution.statement;
    const connection = this.#closed ? undefined : this.#connectionFor(statement);
    if (connection) this.#send(connection, execution);
    else {
      const give = (later: WireConnection) => this.#send(later, execution);
      this.#wait(statement, execution, { give, refuse: (reason) => execution.done(reason, []) });
    }
  }

  /** Returns a connection for the statement (null: for a transaction); undefined when it has to wait. */
  #connectionFor(statement: NamedStatement | null): WireConnection | undefined {
    const mayShare = statement !== null && this.#options.isKept;
    const shared = mayShare ? this.#batch.connectionFor(statement) : undefined;
    if (shared) return shared;
    const free = this.#connections.find(isFree);
    if (free || !mayShare || this.#canOpen() || !this.#batch.isQuick(statement)) return free;
    const now = performance.now();
    return this.#connections.find(
      (connection) =>
        !connection.isReserved && connection.workedOnMs(now) < LOOK_MS && this.#batch.hasRoom(connection),
    );
  }

  #send(connection: WireConnection, execution: Execution): void {
    if (!connection.isIdle) this.#startRescue();
    connection.send(execution, this.#options.isKept);
    this.#batch.wrote(connection, execution.isSingle ? null : execution.statement);
  }

  #canOpen(): boolean {
    if (this.#refused) return false;
    return this.#opening + this.#connections.length < this.#options.maxConnections;
  }

  #wait(
    statement: NamedStatement | null,
    owner: unknown,
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
    const waiter: Waiter = { owner, give, refuse, statement, timer, since: performance.now() };
    this.#waiting.push(waiter);
    this.#openMore();
  }

  /** Handles an execution whose caller no longer waits. Postgres has to cancel it only when it takes longer than a quick statement. The
   *  end of a write is awaited, because it may have been committed in time. */
  readonly #giveUpOn = (execution: Execution, reason: Error): void => {
    const wasQueued = this.#leaveQueue(execution);
    const isInFlight = this.#connections.some((connection) => connection.stopWaiting(execution));
    if (isInFlight) this.#startRescue();
    if (execution.statement.isRead || wasQueued || !isInFlight) execution.abandon(reason);
  };

  /** Returns false when the owner is not in the queue. */
  #leaveQueue(owner: unknown): boolean {
    const index = this.#waiting.findIndex((waiter) => waiter.owner === owner);
    if (index < 0) return false;
    clearTimeout(this.#waiting.splice(index, 1)[0]?.timer);
    return true;
  }

  #giveUp(waiter: Waiter): void {
    const index = this.#waiting.indexOf(waiter);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    this.counts.waitedTooLong += 1;
    waiter.refuse(new WaitedTooLong('no connection to the database became free in time'));
  }

  /** Gives connections to the queue, as far as there is room. */
  #serveQueue(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#connectionFor(this.#waiting[0]!.statement);
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
      if (this.#mayEndSoon(this.#waiting[this.#opening]!)) {
        this.#openTimer ??= setTimeout(() => {
          this.#openTimer = undefined;
          this.#openMore();
        }, LOOK_MS);
        return;
      }
      this.#opening++;
      this.#open().then(
        (connection) => {
          this.#opening--;
          this.#add(connection);
          this.#serveQueue();
        },
        (reason: Error) => {
          this.#opening--;
          this.counts.failedToOpen += 1;
          if (isFull(reason)) return this.#waitForServer(reason);
          // Each waiter receives the error of an attempt of its own.
          const waiter = this.#waiting.shift();
          clearTimeout(waiter?.timer);
          waiter?.refuse(reason);
          this.#serveQueue();
        },
      );
    }
  }

  /** True when the wait of a statement has just begun, and others will probably end before a new connection could answer it. */
  #mayEndSoon({ statement, since }: Waiter): boolean {
    const now = performance.now();
    if (!statement || now - since >= LOOK_MS) return false;
    const isAtWork = (connection: WireConnection) =>
      !connection.isReserved && !connection.isIdle && connection.workedOnMs(now) < LOOK_MS;
    return this.#opening + this.#connections.filter(isAtWork).length >= ENOUGH_AT_WORK;
  }

  #add(connection: WireConnection): void {
    this.counts.opened += 1;
    this.#endRefusal();
    this.#connections.push(connection);
    this.#sweep ??= setInterval(() => this.#tidy(), SWEEP_MS).unref();
  }

  /** Handles a server without free connections: waiters wait for the pool's connections. If the pool has none, they
   *  wait for the server, for a limited time. */
  #waitForServer(reason: Error): void {
    if (!this.#refused) {
      const pauseMs = this.#pauseMs;
      this.#pauseMs = Math.min(2 * pauseMs, LONGEST_REFUSED_MS);
      this.#refused = setTimeout(() => {
        this.#refused = undefined;
        this.#serveQueue();
      }, pauseMs);
    }
    const hasConnection = this.#connections.length + this.#opening > 0;
    const since = performance.now() - REFUSED_WAIT_MS;
    while (!hasConnection && this.#waiting[0] && this.#waiting[0].since < since) {
      const waiter = this.#waiting.shift()!;
      clearTimeout(waiter.timer);
      waiter.refuse(reason);
    }
    this.#serveQueue();
  }

  #endRefusal(): void {
    clearTimeout(this.#refused);
    this.#refused = undefined;
    this.#pauseMs = REFUSED_MS;
  }

  async #open(): Promise<WireConnection> {
    return new WireConnection(await this.#connect(), {
      wroteTo: (connection) => this.#wroteTo(connection),
      advanced: (connection) => this.#advanced(connection),
      undone: (execution) => this.#again(execution),
      readOnly: (connection) => this.leave(connection),
      outdated: (...found) => this.#repeatAfresh(...found),
      closed: (connection) => this.#forget(connection),
      answered: (beganAt, endedAt) => {
        this.#answeredSince = Math.max(this.#answeredSince, beganAt);
        this.#options.timed?.('statement', endedAt - beganAt);
      },
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

  #wroteTo(connection: WireConnection): void {
    if (this.#written.length === 0) setImmediate(() => this.#flush());
    this.#written.push(connection);
  }

  /** Runs after the other callbacks of this turn of the event loop, so that what was written in one turn is sent
   *  together. */
  #flush(): void {
    const written = this.#written;
    this.#written = [];
    for (const connection of written) connection.flush();
    this.#batch.end();
  }

  #advanced(connection: WireConnection): void {
    this.#dropSpent(connection);
    if (this.#waiting.length > 0) this.#serveQueue();
    if (this.#closed && connection.isIdle) this.#closeIdle();
  }

  #startRescue(): void {
    this.#rescueTimer ??= setInterval(() => this.#rescue(), LOOK_MS).unref();
  }

  #rescue(): void {
    const now = performance.now();
    let isNeeded = false;
    for (const connection of [...this.#connections]) {
      isNeeded ||= connection.hasUnawaited || connection.isBlocking;
      const isStalled = this.#isStalled(connection, now);
      if (isStalled) connection.learnThatSlow(now);
      if (isStalled || connection.isToBeCancelled(now, LOOK_MS)) void this.#cancel(connection);
    }
    if (isNeeded) return;
    clearInterval(this.#rescueTimer);
    this.#rescueTimer = undefined;
  }

  /** True when statements wait behind one that takes longer than it should, and this one can run on another connection. Where no
   *  connection has answered a later statement, the server may be slow as a whole. */
  #isStalled(connection: WireConnection, now: number): boolean {
    const workedMs = connection.workedOnMs(now);
    if (!connection.isBlocking || workedMs < STALLED_MS) return false;
    if (this.#answeredSince <= connection.workSince && workedMs < STALLED_WITHOUT_ANSWERS_MS) return false;
    return this.#canOpen() || this.#connections.some(isFree);
  }

  /** Cancels the oldest statement. Nothing new is sent on this connection before the server has accepted the request. Those that it hits
   *  by mistake are sent again. A transaction may only be rolled back afterwards. */
  async #cancel(connection: WireConnection): Promise<void> {
    await connection.cancelled(cancel(connection.client, CANCEL_WITHIN_MS));
    this.#dropSpent(connection);
    this.#serveQueue();
  }

  #dropSpent(connection: WireConnection): void {
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

  #isOld({ openedAt }: WireConnection): boolean {
    const { lifetimeMs } = this.#options;
    return lifetimeMs > 0 && performance.now() - openedAt > lifetimeMs;
  }

  #drop(connection: WireConnection): void {
    connection.close();
    this.#remove(connection);
  }

  #forget(connection: WireConnection): void {
    this.#remove(connection);
    this.#serveQueue();
  }

  #remove(connection: WireConnection): void {
    const index = this.#connections.indexOf(connection);
    if (index >= 0) this.#connections.splice(index, 1);
    if (this.#connections.length === 0 && this.#sweep) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
  }

  /** Cancels what is in flight, because a statement goes on when its client has gone, and then closes the
   *  connections. Connections that are being opened close when they are open or have failed. */
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

  /** Closes idle connections while the pool is closing and the queue is empty. */
  #closeIdle(): void {
    if (!this.#closed || this.#waiting.length > 0) return;
    for (const connection of [...this.#connections]) {
      if (isFree(connection)) this.#drop(connection);
    }
    if (this.#connections.length === 0 && this.#opening === 0) this.#closed.resolve();
  }
}

/** True for too_many_connections: of the server, the database or the role, or of a pooler in between. */
function isFull(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === '53300' || (typeof message === 'string' && /no more connections allowed/.test(message));
}

function isFree({ isIdle, isReserved }: WireConnection): boolean {
  return isIdle && !isReserved;
}
