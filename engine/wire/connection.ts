/** An authenticated connection that runs statements one after the other, with several of them in flight: Postgres
 *  answers in order, so a result belongs to the oldest statement in flight.
 *  The driver (`pg`) opens the connection, because it implements startup, TLS and SCRAM. Between statements the
 *  driver's client can be lent to callers that need one. Only one of the two listens to the socket at a time.
 *  Not here: which connection a statement gets, sending a statement again (pool.ts). */
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { Decoder, failureAt, rowAt } from './decode.ts';
import { Outbox } from './encode.ts';
import type { Column, NamedStatement, Row, Value } from './statement.ts';

/** One run of a statement. It may be in flight on several connections. */
export type Execution = {
  readonly statement: NamedStatement;
  readonly values: readonly Value[];
  readonly done: (failure: Error | null, row: Row) => void;
  wasRetried: boolean;
  /** True when a result has arrived, or the caller no longer waits for one. Other copies in flight are useless then. */
  isFinished: boolean;
};

/** The state of a statement in flight:
 *  `awaited`: its result is for the caller.
 *  `cancelling`: the caller waits for its end only; Postgres should stop it. A write may still have been in time.
 *  `moved`: it was sent again on another connection. Its result is discarded; once that one has a result, Postgres should stop it.
 *  `discarded`: no caller waits. Its result is discarded; Postgres should stop it. */
type InFlightState = 'awaited' | 'cancelling' | 'moved' | 'discarded';

/** A statement in flight on this connection. */
type InFlight = {
  readonly execution: Execution;
  readonly isParsed: boolean;
  /** True when another statement was in flight when this one was sent. */
  readonly isFollower: boolean;
  state: InFlightState;
};

/** Raised for a statement whose connection is lost. It has no SQLSTATE, because it does not come from the server. */
export class ConnectionLost extends Error {
  constructor(reason: string) {
    super(`the connection to the database was lost: ${reason}`);
  }
}

/** An error of Postgres. `isBeforeRun` is true when Postgres was still reading the parameters and had read no row. */
type Failure = pg.DatabaseError & { readonly isBeforeRun?: boolean };

/** The private fields of the driver's client. */
type DriverInternals = {
  readonly connection: EventEmitter & { readonly stream: Duplex };
  readonly readyForQuery: boolean | null;
};
type Listener = (piece: Buffer) => void;

type ConnectionEvents = {
  /** Called when there is something to send; the pool calls `flush` soon. */
  readonly wroteTo: (connection: WireConnection) => void;
  /** Called when a statement has ended; there may be room for another. */
  readonly advanced: (connection: WireConnection) => void;
  /** Called when a statement failed before anything ran, because it was no longer prepared or its table has changed. */
  readonly stale: (execution: Execution) => void;
  /** Called when the server refused a statement because it only reads. Returns true when the statement is sent elsewhere. */
  readonly readOnly: (connection: WireConnection, execution: Execution) => boolean;
  readonly closed: (connection: WireConnection) => void;
  /** Called with each answer; `ms` counts from sending the statement, or from the answer before it. */
  readonly answered: (ms: number) => void;
};

/** The time between two requests to cancel the same statement. */
const CANCEL_AGAIN_MS = 1000;

/** The most statements kept prepared. The oldest one is closed for a new one. */
const MAX_PREPARED = 1000;

const NO_ROW: Row = [];

/** The types of backend messages. */
const DATA_ROW = 0x44;
const READY_FOR_QUERY = 0x5a;
const ERROR_RESPONSE = 0x45;
const BIND_COMPLETE = 0x32;
const COPY_IN_RESPONSE = 0x47;
const COPY_BOTH_RESPONSE = 0x57;

export class WireConnection {
  readonly client: pg.Client;
  /** True while a transaction has the connection to itself. */
  isTaken = false;
  /** True when the connection is taken and the caller no longer waits for what runs on it. */
  isUnawaited = false;
  #isCancelling = false;
  #cancelledAt = Number.NEGATIVE_INFINITY;
  /** True when a request to cancel may still arrive. The connection is closed when it is given back. */
  isSpent = false;
  readonly openedAt = performance.now();
  readonly #socket: Duplex;
  readonly #driver: readonly Listener[];
  readonly #listener: Listener;
  readonly #events: ConnectionEvents;
  readonly #outbox = new Outbox();
  readonly #prepared = new Set<string>();
  readonly #queue: InFlight[] = [];
  /** The row of the oldest statement in flight. */
  #row: Column[] | null = null;
  #failure: Failure | null = null;
  /** True when Postgres has read the parameters of the oldest statement in flight. */
  #isBound = false;
  /** The expected duration of all statements in flight. */
  #backlogMs = 0;
  /** The time at which Postgres started to work on the oldest statement. */
  #since = 0;
  /** True when something in flight has been sent. */
  #isSent = false;
  #isLent = false;
  /** True when nothing more may be sent. */
  #isClosed = false;
  #isOver = false;

  constructor(client: pg.Client, events: ConnectionEvents) {
    this.client = client;
    this.#events = events;
    this.#socket = (client as unknown as DriverInternals).connection.stream;
    this.#driver = this.#socket.listeners('data') as Listener[];
    const decoder = new Decoder((type, bytes, start, end) => this.#receive(type, bytes, start, end));
    this.#listener = (piece) => {
      try {
        decoder.push(piece);
      } catch (error) {
        this.destroy(error as Error);
      }
    };
    this.#socket.once('close', () => this.#end(new ConnectionLost('it was closed')));
    this.#listen(this.#driver, [this.#listener]);
  }

  get isIdle(): boolean {
    return this.#queue.length === 0;
  }

  /** True when no other statement may be sent on it. */
  get isReserved(): boolean {
    return this.isTaken || this.#isCancelling || this.isSpent;
  }

  /** True when a statement in flight has no caller that waits for its result. */
  get hasUnawaited(): boolean {
    return this.isUnawaited || this.#queue.some(({ state }) => state !== 'awaited');
  }

  /** True when the oldest statement has to be cancelled now: its result is not needed, and Postgres has worked on it
   *  for at least `afterMs`. In a transaction only the last statement is cancelled: those after it would run outside
   *  the transaction when it is BEGIN that is cancelled. */
  isToBeCancelled(now: number, afterMs: number): boolean {
    if (this.#isCancelling || now - this.#cancelledAt < CANCEL_AGAIN_MS) return false;
    if (this.isUnawaited && this.#isLent) return true;
    if (this.isTaken && this.depth > 1) return false;
    const [oldest] = this.#queue;
    const isUnneeded = oldest !== undefined && shouldStop(oldest);
    return (this.isUnawaited || isUnneeded) && this.workedOnMs(now) >= afterMs;
  }

  /** Waits for a request to cancel. Nothing else is sent in the meantime. */
  async cancelled(cancel: Promise<boolean>): Promise<void> {
    const [oldest] = this.#queue;
    this.#isCancelling = true;
    if (!(await cancel)) this.isSpent = true;
    this.#isCancelling = false;
    // If the statement ended in the meantime, the next one can be cancelled without a pause.
    if (this.#queue[0] === oldest) this.#cancelledAt = performance.now();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get depth(): number {
    return this.#queue.length;
  }

  get backlogMs(): number {
    return this.#backlogMs;
  }

  /** The milliseconds Postgres has worked on the oldest statement. */
  workedOnMs(now: number): number {
    return this.#isSent ? now - this.#since : 0;
  }

  /** The time at which the last statement ended. */
  get idleSince(): number {
    return Math.max(this.#since, this.openedAt);
  }

  /** Sends a statement. With `isKept`, a named statement is prepared and kept; otherwise it is parsed for this run
   *  only. */
  send(execution: Execution, isKept: boolean): void {
    const { statement, values } = execution;
    const name = isKept ? statement.name : '';
    this.#announce();
    const isParsed = name === '' || !this.#prepared.has(name);
    if (isParsed) this.#prepare(name, statement);
    this.#outbox.run(name, values);
    this.#enqueue(execution, isParsed);
  }

  /** Sends BEGIN, COMMIT or ROLLBACK, in one write with what follows in the same turn. */
  command(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#announce();
      this.#outbox.query(text);
      const done = (failure: Error | null) => (failure ? reject(failure) : resolve());
      this.#enqueue(
        { statement: { name: '', text }, values: [], done, wasRetried: true, isFinished: false },
        false,
      );
    });
  }

  flush(): void {
    if (this.#outbox.isEmpty) return;
    const bytes = this.#outbox.take();
    // A transaction may not have noticed yet that its connection is lost.
    if (this.#isClosed) {
      this.#end(new ConnectionLost('it was closed'));
      return;
    }
    if (!this.#isSent) this.#since = performance.now();
    this.#isSent = true;
    this.#socket.write(bytes);
  }

  /** Marks the copies of an execution whose caller no longer waits for the result. Returns false when it is not in
   *  flight here. */
  stopWaiting(execution: Execution): boolean {
    // A read may be here twice: behind a slow statement, and again after it was moved away and back.
    const copies = this.#queue.filter((copy) => copy.execution === execution);
    for (const copy of copies)
      copy.state = isDiscarded(copy) || execution.statement.isRead ? 'discarded' : 'cancelling';
    return copies.length > 0;
  }

  /** Returns everything but the oldest statement, which may run for long. Postgres still runs these statements; their results are
   *  discarded. */
  takeFollowers(): Execution[] {
    return this.#queue.slice(1).flatMap((follower) => {
      if (isDiscarded(follower)) return [];
      follower.state = follower.state === 'awaited' ? 'moved' : 'discarded';
      return follower.execution.isFinished ? [] : [follower.execution];
    });
  }

  /** Returns the driver's client, for use while nothing is in flight here. */
  lend(): pg.Client {
    this.#isLent = true;
    this.#listen([this.#listener], this.#driver);
    return this.client;
  }

  /** True while the server has not finished the driver's last query. The driver rejects a query at its error message,
   *  before the server is ready for the next one; everything read until then belongs to that query. */
  get isDriverBusy(): boolean {
    return this.#isLent && !this.#isClosed && !(this.client as unknown as DriverInternals).readyForQuery;
  }

  /** Calls `ready` once the server has finished; never if the connection ends instead. */
  onceDriverReady(ready: () => void): void {
    (this.client as unknown as DriverInternals).connection.once('readyForQuery', ready);
  }

  takeBack(): void {
    if (!this.#isLent) return;
    this.#isLent = false;
    this.#listen(this.#driver, [this.#listener]);
    this.#since = performance.now();
  }

  close(): void {
    this.#isClosed = true;
    this.client.end().catch(() => {});
  }

  destroy(reason: Error): void {
    this.#end(reason);
    this.#socket.destroy();
  }

  #prepare(name: string, statement: NamedStatement): void {
    if (name !== '') {
      const [oldest] = this.#prepared;
      if (oldest !== undefined && this.#prepared.size >= MAX_PREPARED) {
        this.#prepared.delete(oldest);
        this.#outbox.close(oldest);
      }
      this.#prepared.add(name);
    }
    this.#outbox.prepare({ name, text: statement.text });
  }

  #enqueue(execution: Execution, isParsed: boolean): void {
    this.#queue.push({
      execution,
      isParsed,
      isFollower: this.#queue.length > 0,
      state: 'awaited',
    });
    this.#backlogMs += execution.statement.tookMs ?? Number.POSITIVE_INFINITY;
  }

  #announce(): void {
    if (this.#outbox.isEmpty) this.#events.wroteTo(this);
  }

  #listen(before: readonly Listener[], after: readonly Listener[]): void {
    for (const listener of before) this.#socket.off('data', listener);
    for (const listener of after) this.#socket.on('data', listener);
  }

  /** Handles one backend message. Notices, parameter statuses, notifications and confirmations are ignored. */
  #receive(type: number, bytes: Buffer, start: number, end: number): void {
    switch (type) {
      case DATA_ROW:
        if (!this.#row) this.#row = rowAt(bytes, start);
        else if (this.#queue[0]?.execution.statement.hasRows) this.#row.push(...rowAt(bytes, start));
        return;
      case READY_FOR_QUERY:
        this.#finish();
        return;
      case BIND_COMPLETE:
        this.#isBound = true;
        return;
      case ERROR_RESPONSE:
        this.#failure ??= this.#failureOf(failureAt(bytes, start, end));
        return;
      case COPY_IN_RESPONSE:
      case COPY_BOTH_RESPONSE:
        throw new Error('a statement asked for data to copy');
    }
  }

  #failureOf(failure: pg.DatabaseError): Failure {
    const hasParameters = (this.#queue[0]?.execution.values.length ?? 0) > 0;
    return hasParameters && !this.#isBound ? Object.assign(failure, { isBeforeRun: true }) : failure;
  }

  #finish(): void {
    const inFlight = this.#queue.shift();
    if (!inFlight) throw new Error('an answer without a statement');
    const { execution, isParsed } = inFlight;
    if (!this.isUnawaited) this.#cancelledAt = Number.NEGATIVE_INFINITY;
    const row = this.#row ?? NO_ROW;
    const failure = this.#failure;
    this.#row = null;
    this.#failure = null;
    this.#isBound = false;
    this.#measure(inFlight, failure === null);
    if (failure && (isParsed || isStale(failure))) this.#prepared.delete(execution.statement.name);
    if (!isDiscarded(inFlight)) {
      const mayRetry = failure !== null && !execution.wasRetried;
      if (mayRetry && isStale(failure)) this.#events.stale(execution);
      else if (!mayRetry || !isReadOnly(failure) || !this.#events.readOnly(this, execution))
        execution.done(failure, row);
    }
    this.#events.advanced(this);
  }

  /** Measures a statement. Only a follower shows how long Postgres took, because it started when the one before had
   *  ended. The time of the first one is mostly network latency and the load of this process. */
  #measure({ execution: { statement }, isFollower }: InFlight, isGood: boolean): void {
    const now = performance.now();
    const tookMs = now - this.#since;
    this.#events.answered(tookMs);
    if (isGood && isFollower) statement.tookMs = updatedAverage(statement.tookMs, tookMs);
    this.#since = now;
    this.#isSent = this.#queue.length > 0;
    this.#backlogMs = 0;
    for (const { execution } of this.#queue)
      this.#backlogMs += execution.statement.tookMs ?? Number.POSITIVE_INFINITY;
  }

  #end(reason: Error): void {
    this.#isClosed = true;
    const first = this.#failure;
    for (const [i, inFlight] of this.#queue.splice(0).entries()) {
      if (!isDiscarded(inFlight)) inFlight.execution.done(i === 0 && first ? first : reason, NO_ROW);
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.closed(this);
  }
}

function isDiscarded({ state }: InFlight): boolean {
  return state === 'moved' || state === 'discarded';
}

/** True when Postgres should stop working on the statement. */
function shouldStop({ state, execution }: InFlight): boolean {
  return state === 'cancelling' || state === 'discarded' || (state === 'moved' && execution.isFinished);
}

/** Returns a moving average that follows increases faster: of two answers in one packet the second seems to take no
 *  time. */
function updatedAverage(known: number | undefined, tookMs: number): number {
  return known === undefined ? tookMs : known + (tookMs - known) * (tookMs > known ? 0.2 : 0.1);
}

/** True for read_only_sql_transaction. Nothing has run. */
export function isReadOnly(failure: unknown): boolean {
  return (failure as { readonly code?: unknown } | null)?.code === '25006';
}

/** True when nothing has run: the server does not know the statement (DEALLOCATE, or a pooler in between), or a table
 *  it reads has changed. Sources: PostgreSQL's plancache.c, RevalidateCachedQuery; prepare.c. */
function isStale({ code, routine }: pg.DatabaseError): boolean {
  return code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery');
}
