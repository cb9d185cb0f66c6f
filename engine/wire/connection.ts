/** An authenticated connection that runs statements one after the other, several of them under way at once: Postgres
 *  answers in the order it was asked, so the oldest question is whom an answer belongs to.
 *  The driver (`pg`) opens it, because startup, TLS and SCRAM are its trade, and can have it back between statements, for
 *  callers that need a client: whoever holds the connection listens to its socket, the other does not.
 *  Not here: which connection a statement gets, asking again (pool.ts). */
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { Decoder, failureAt, rowAt } from './decode.ts';
import { Outbox } from './encode.ts';
import type { Column, NamedStatement, Row, Value } from './statement.ts';

/** One statement on its way. */
export type Execution = {
  readonly statement: NamedStatement;
  readonly values: readonly Value[];
  readonly done: (failure: Error | null, row: Row) => void;
  wasRetried: boolean;
  /** There is an answer, or nobody waits for one: copies that are under way elsewhere are of no use. */
  isFinished: boolean;
};

type InFlight = {
  readonly execution: Execution;
  readonly isParsed: boolean;
  /** Another was under way when it was sent. */
  readonly isFollower: boolean;
  /** It has been asked again elsewhere, or nobody waits for it: what comes is dropped. */
  isAbandoned: boolean;
  /** Nobody waits for it: Postgres should stop working on it. */
  isUnwanted: boolean;
};

/** Raised for a statement whose connection is gone; no SQLSTATE, because no server has said it. */
export class ConnectionLost extends Error {
  constructor(reason: string) {
    super(`the connection to the database was lost: ${reason}`);
  }
}

/** `isBeforeRun`: Postgres was still reading the parameters, and has looked at no row. */
type Failure = pg.DatabaseError & { readonly isBeforeRun?: boolean };

/** What the driver keeps to itself. */
type DriverInternals = {
  readonly connection: EventEmitter & { readonly stream: Duplex };
  readonly readyForQuery: boolean | null;
};
type Listener = (piece: Buffer) => void;

export type ConnectionEvents = {
  /** Something is to be sent; `flush` soon. */
  readonly wroteTo: (connection: Connection) => void;
  /** A statement is over; there may be room for another. */
  readonly advanced: (connection: Connection) => void;
  /** The execution failed although nothing has run: the statement was not prepared any more, or for another table. */
  readonly stale: (execution: Execution) => void;
  readonly closed: (connection: Connection) => void;
  /** An answer has come; milliseconds since its question, or since the answer before it. */
  readonly answered: (ms: number) => void;
};

/** Between two requests to cancel the same statement. */
const CANCEL_AGAIN_MS = 1000;

/** Distinct statements kept prepared; the oldest is closed for another. */
const MOST_PREPARED = 1000;

const NO_ROW: Row = [];

/** Backend message types. */
const DATA_ROW = 0x44;
const READY_FOR_QUERY = 0x5a;
const ERROR_RESPONSE = 0x45;
const BIND_COMPLETE = 0x32;
const COPY_IN_RESPONSE = 0x47;
const COPY_BOTH_RESPONSE = 0x57;

export class Connection {
  readonly client: pg.Client;
  /** Somebody has it to themselves. */
  isTaken = false;
  /** Nobody waits for what runs on it while it is taken. */
  isUnawaited = false;
  #isCancelling = false;
  #cancelledAt = Number.NEGATIVE_INFINITY;
  /** A request to cancel may still arrive: it is closed when it is given back. */
  isSpent = false;
  readonly openedAt = performance.now();
  readonly #socket: Duplex;
  readonly #driver: readonly Listener[];
  readonly #listener: Listener;
  readonly #events: ConnectionEvents;
  readonly #outbox = new Outbox();
  readonly #prepared = new Set<string>();
  readonly #queue: InFlight[] = [];
  /** Of the oldest statement under way. */
  #row: Column[] | null = null;
  #failure: Failure | null = null;
  /** Postgres has read the parameters of the oldest statement under way. */
  #isBound = false;
  /** Sum of what the statements under way are expected to take. */
  #backlogMs = 0;
  /** When the oldest statement began to be worked on. */
  #since = 0;
  /** Is anything under way that has been sent? */
  #isSent = false;
  #isLent = false;
  /** Nothing more is to be sent. */
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

  /** Nobody else's statements may be sent on it. */
  get isReserved(): boolean {
    return this.isTaken || this.#isCancelling || this.isSpent;
  }

  /** Something runs or is about to run on it that nobody waits for. */
  get hasUnawaited(): boolean {
    return this.isUnawaited || this.#queue.some(({ isUnwanted, isAbandoned }) => isUnwanted || isAbandoned);
  }

  /** True when the statement that is worked on has to be cancelled now: it has been worked on for so long. */
  isToBeCancelled(now: number, afterMs: number): boolean {
    if (this.#isCancelling || now - this.#cancelledAt < CANCEL_AGAIN_MS) return false;
    if (this.isUnawaited && this.#isLent) return true;
    const [oldest] = this.#queue;
    const isCopy = oldest?.isAbandoned === true && oldest.execution.isFinished;
    return (this.isUnawaited || oldest?.isUnwanted === true || isCopy) && this.workedOnMs(now) >= afterMs;
  }

  /** While a request to cancel is on its way, nothing else may be sent. */
  async cancelled(cancel: Promise<boolean>): Promise<void> {
    const [oldest] = this.#queue;
    this.#isCancelling = true;
    if (!(await cancel)) this.isSpent = true;
    this.#isCancelling = false;
    // The statement may have ended meanwhile; the next one can be cancelled without a pause.
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

  /** Milliseconds the oldest statement has been worked on. */
  workedOnMs(now: number): number {
    return this.#isSent ? now - this.#since : 0;
  }

  /** When the last statement was over. */
  get idleSince(): number {
    return Math.max(this.#since, this.openedAt);
  }

  /** `isParsed`: named statements are prepared here and kept; otherwise each is parsed for the one run. */
  send(execution: Execution, isKept: boolean): void {
    const { statement, values } = execution;
    const name = isKept ? statement.name : '';
    this.#announce();
    const isParsed = name === '' || !this.#prepared.has(name);
    if (isParsed) this.#prepare(name, statement);
    this.#outbox.run(name, values);
    this.#enqueue(execution, isParsed);
  }

  /** BEGIN, COMMIT, ROLLBACK: sent with what follows in the same moment. */
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
    // Whoever has it to themselves may not know yet.
    if (this.#isClosed) {
      this.#end(new ConnectionLost('it was closed'));
      return;
    }
    if (!this.#isSent) this.#since = performance.now();
    this.#isSent = true;
    this.#socket.write(bytes);
  }

  /** Nobody waits for the execution any more, or somebody waits for its end alone: `isAbandoned` says that its answer is dropped.
   *  False when it is not under way here. */
  stopWaiting(execution: Execution, isAbandoned: boolean): boolean {
    // A read may be here twice: behind a slow statement, and again after it was moved away and back.
    const copies = this.#queue.filter((one) => one.execution === execution);
    for (const copy of copies) {
      copy.isAbandoned ||= isAbandoned;
      copy.isUnwanted = true;
    }
    return copies.length > 0;
  }

  /** Returns everything but the oldest statement, which may be at work for long. Postgres still has these statements; what it
   *  answers is discarded. */
  abandonFollowers(): Execution[] {
    return this.#queue.slice(1).flatMap((inFlight) => {
      if (inFlight.isAbandoned) return [];
      inFlight.isAbandoned = true;
      return inFlight.execution.isFinished ? [] : [inFlight.execution];
    });
  }

  /** The driver's client, for as long as nothing is under way here. */
  lend(): pg.Client {
    this.#isLent = true;
    this.#listen([this.#listener], this.#driver);
    return this.client;
  }

  /** True while the server has not finished the driver's last query. The driver fails a query at its error message, before the
   *  server is ready for the next one; what is read until then belongs to that query. */
  get isDriverBusy(): boolean {
    return this.#isLent && !this.#isClosed && !(this.client as unknown as DriverInternals).readyForQuery;
  }

  /** Never calls back when the connection ends instead. */
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
      if (oldest !== undefined && this.#prepared.size >= MOST_PREPARED) {
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
      isAbandoned: false,
      isUnwanted: false,
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

  /** Notices, parameter statuses, notifications and confirmations say nothing anyone waits for. */
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
    if (!inFlight) throw new Error('an answer nobody waits for');
    const { execution, isParsed, isAbandoned } = inFlight;
    if (!this.isUnawaited) this.#cancelledAt = Number.NEGATIVE_INFINITY;
    const row = this.#row ?? NO_ROW;
    const failure = this.#failure;
    this.#row = null;
    this.#failure = null;
    this.#isBound = false;
    this.#measure(inFlight, failure === null);
    if (failure && (isParsed || isStale(failure))) this.#prepared.delete(execution.statement.name);
    if (!isAbandoned) {
      if (failure && !execution.wasRetried && isStale(failure)) this.#events.stale(execution);
      else execution.done(failure, row);
    }
    this.#events.advanced(this);
  }

  /** Only a follower tells how long Postgres took, because it was begun when the one before was over. What the first one
   *  took is mostly the way there and back, and how busy this process was. */
  #measure({ execution: { statement }, isFollower }: InFlight, isGood: boolean): void {
    const now = performance.now();
    const tookMs = now - this.#since;
    this.#events.answered(tookMs);
    if (isGood && isFollower) statement.tookMs = learnt(statement.tookMs, tookMs);
    this.#since = now;
    this.#isSent = this.#queue.length > 0;
    this.#backlogMs = 0;
    for (const { execution } of this.#queue)
      this.#backlogMs += execution.statement.tookMs ?? Number.POSITIVE_INFINITY;
  }

  #end(reason: Error): void {
    this.#isClosed = true;
    const first = this.#failure;
    for (const [i, { execution, isAbandoned }] of this.#queue.splice(0).entries()) {
      if (!isAbandoned) execution.done(i === 0 && first ? first : reason, NO_ROW);
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.closed(this);
  }
}

/** A moving average that believes bad news sooner: two answers that come in one piece look as if the second took no time. */
function learnt(known: number | undefined, tookMs: number): number {
  return known === undefined ? tookMs : known + (tookMs - known) * (tookMs > known ? 0.2 : 0.1);
}

/** Nothing has run: the statement is unknown on the server (DEALLOCATE, a pooler between), or a table it reads has another
 *  shape now. Sources: PostgreSQL's plancache.c, RevalidateCachedQuery; prepare.c. */
function isStale({ code, routine }: pg.DatabaseError): boolean {
  return code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery');
}
