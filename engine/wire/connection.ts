/** An authenticated connection that runs statements one after the other, with several of them in flight: Postgres
 *  answers in order, so a result belongs to the oldest statement in flight.
 *  The driver (`pg`) opens the connection, because it implements startup, TLS and SCRAM. Between statements the
 *  driver's client can be lent to callers that need one. Only one of the two listens to the socket at a time.
 *  Not here: which connection a statement gets, sending a statement again (pool.ts). */
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { Decoder, failureAt, rowAt, saysRowsAreMissing, tooLong } from './decode.ts';
import { Outbox } from './encode.ts';
import { Execution, isCancelled } from './execution.ts';
import { mayHoldNull, READ_NULLS, wasOff } from './null-elements.ts';
import { Reading } from './reading.ts';
import { type Staleness, stalenessOf } from './staleness.ts';
import type { Column, NamedStatement, Row } from './statement.ts';

/** Raised for a statement whose connection is lost. It has no SQLSTATE, because it does not come from the server. */
export class ConnectionLost extends Error {
  constructor(reason: string) {
    super(`the connection to the database was lost: ${reason}`);
  }
}

/** An error of Postgres. `isBeforeRun` is true when Postgres was still reading the parameters and had read no row. `staleness` says what
 *  may be out of date. */
type Failure = pg.DatabaseError & { readonly isBeforeRun?: boolean; readonly staleness?: Staleness };

/** The private fields of the driver's client. */
type DriverInternals = {
  readonly connection: EventEmitter & { readonly stream: Duplex };
  readonly readyForQuery: boolean | null;
};

type ConnectionEvents = {
  /** Called when there is something to send; the pool calls `flush` soon. */
  readonly wroteTo: (connection: WireConnection) => void;
  /** Called when a statement has ended; there may be room for another. */
  readonly advanced: (connection: WireConnection) => void;
  /** Called for a statement of which nothing is kept: it was no longer prepared, its table had changed, or a request to cancel hit it. */
  readonly undone: (execution: Execution) => void;
  /** Called when the server refused a statement because it only reads. Returns true when statements are sent elsewhere from now on. */
  readonly readOnly: (connection: WireConnection) => boolean;
  /** Called when what the session has cached may be out of date. Returns true when the execution is repeated in another session. */
  readonly outdated: (connection: WireConnection, execution: Execution, failure: Error) => boolean;
  readonly closed: (connection: WireConnection) => void;
  /** Called with each answer. The statement began when it was sent, or at the answer before it. */
  readonly answered: (beganAt: number, endedAt: number) => void;
};

/** The time between two requests to cancel the same statement. */
const CANCEL_AGAIN_MS = 1000;

/** The most statements kept prepared. The oldest one is closed for a new one. */
const MAX_PREPARED = 1000;

/** The most bytes of an error or a notice, which may quote a value. */
const MOST_TEXT_BYTES = 8 * 1024 * 1024;

const NO_ROW: Row = [];
const NO_VALUES: readonly [] = [];

/** The types of backend messages. */
const DATA_ROW = 0x44;
const READY_FOR_QUERY = 0x5a;
const ERROR_RESPONSE = 0x45;
const NOTICE_RESPONSE = 0x4e;
const PARSE_COMPLETE = 0x31;
const BIND_COMPLETE = 0x32;
const COMMAND_COMPLETE = 0x43;
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
  /** True when the session reads null elements of arrays, false when READ_NULLS has to precede them; undefined until Postgres has
   *  answered it. A second answer in one transaction says nothing. */
  readsNulls: boolean | undefined;
  readonly openedAt = performance.now();
  readonly #socket: Duplex;
  readonly #reading: Reading;
  readonly #events: ConnectionEvents;
  readonly #outbox = new Outbox();
  readonly #prepared = new Set<string>();
  readonly #queue: Execution[] = [];
  /** The row of the oldest statement in flight. */
  #row: Column[] | null = null;
  #failure: Failure | null = null;
  /** True when Postgres has parsed the oldest statement in flight just now. */
  #isAnalyzed = false;
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
    const decoder = new Decoder(
      (type, bytes, start, end, isKept) => this.#receive(type, bytes, start, end, isKept),
      (type, size) => this.#accepts(type, size),
    );
    this.#reading = new Reading(this.#socket, (piece) => {
      try {
        decoder.push(piece);
      } catch (error) {
        this.destroy(error as Error);
      }
    });
    this.#socket.once('close', () => this.#end(new ConnectionLost('it was closed')));
    this.#reading.start();
  }

  /** True when it has run a statement, so that its session may have cached something of the schema. */
  get isUsed(): boolean {
    return this.#since > 0;
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
   *  for at least `afterMs`. The statements behind it in a transaction fail with it; behind a BEGIN that is cancelled they would run
   *  outside of the transaction. */
  isToBeCancelled(now: number, afterMs: number): boolean {
    if (this.#isCancelling || now - this.#cancelledAt < CANCEL_AGAIN_MS) return false;
    if (this.isUnawaited && this.#isLent) return true;
    if (this.isTaken && this.#queue[0]?.isCommand) return false;
    const isUnneeded = this.#queue[0] !== undefined && this.#queue[0].state !== 'awaited';
    return (this.isUnawaited || isUnneeded) && this.workedOnMs(now) >= afterMs;
  }

  /** True when others wait behind the oldest statement, which may be cancelled for them. */
  get isBlocking(): boolean {
    return this.#queue.length > 1 && !this.isTaken && !this.#isCancelling;
  }

  /** Forgets that the oldest statement was known as quick, so that nothing is sent behind it until it is measured again. */
  learnThatSlow(now: number): void {
    const { statement } = this.#queue[0]!;
    statement.tookMs = Math.max(statement.tookMs ?? 0, this.workedOnMs(now));
  }

  /** Waits for a request to cancel. Nothing else is sent in the meantime. The request names a connection, not a statement: it may hit
   *  any that is in flight. */
  async cancelled(cancel: Promise<boolean>): Promise<void> {
    const [oldest] = this.#queue;
    this.#isCancelling = true;
    // What is hit in a transaction has failed with it.
    if (!this.isTaken) for (const execution of this.#queue) execution.mayBeHit = true;
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

  /** The time at which Postgres began to work on the oldest statement. */
  get workSince(): number {
    return this.#since;
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
    const name = isKept && !execution.isUnnamed ? statement.name : '';
    this.#announce();
    execution.isPreceded = !this.readsNulls && mayHoldNull(values);
    if (execution.isPreceded) this.#outbox.precede(READ_NULLS);
    execution.isParsed = name === '' || !this.#prepared.has(name);
    if (execution.isParsed) this.#prepare(name, statement);
    this.#outbox.run(name, values);
    execution.begin();
    this.#enqueue(execution);
  }

  /** Sends BEGIN, COMMIT or ROLLBACK, in one write with what follows in the same turn. */
  command(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#announce();
      this.#outbox.query(text);
      this.#enqueue(
        new Execution({ name: '', text }, NO_VALUES, { resolve: () => resolve(), reject }, 'command'),
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

  /** Marks an execution whose caller no longer waits for the result. Returns false when it is not in flight here. */
  stopWaiting(execution: Execution): boolean {
    if (!this.#queue.includes(execution)) return false;
    execution.state = execution.statement.isRead ? 'discarded' : 'cancelling';
    return true;
  }

  /** Returns the driver's client, for use while nothing is in flight here. */
  lend(): pg.Client {
    this.#isLent = true;
    this.#reading.stop();
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
    this.#reading.start();
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

  #enqueue(execution: Execution): void {
    execution.isFollower = this.#queue.length > 0;
    this.#queue.push(execution);
    this.#backlogMs += execution.statement.tookMs ?? Number.POSITIVE_INFINITY;
  }

  #announce(): void {
    if (this.#outbox.isEmpty) this.#events.wroteTo(this);
  }

  /** Handles one backend message. Parameter statuses, notifications and confirmations are ignored, and notices but for one. */
  #receive(type: number, bytes: Buffer, start: number, end: number, isKept: boolean): void {
    if (this.#queue[0]?.isPreceded && this.#isOfPreceding(type, bytes, start, end)) return;
    switch (type) {
      case DATA_ROW:
        // A collected message was accepted when it began.
        if (isKept || this.#acceptsRow(end - start)) this.#addRow(bytes, start, isKept);
        return;
      case READY_FOR_QUERY:
        this.#finish();
        return;
      case PARSE_COMPLETE:
        this.#isAnalyzed = true;
        return;
      case BIND_COMPLETE:
        this.#isBound = true;
        return;
      case ERROR_RESPONSE:
        this.#failure ??= this.#failureOf(failureAt(bytes, start, end));
        return;
      case NOTICE_RESPONSE:
        if (saysRowsAreMissing(bytes, start, end)) {
          this.#failure ??= this.#failureOf(failureAt(bytes, start, end));
        }
        return;
      case COPY_IN_RESPONSE:
      case COPY_BOTH_RESPONSE:
        throw new Error('a statement asked for data to copy');
    }
  }

  /** True for a message that answers READ_NULLS. After an error, Postgres skips what follows. */
  #isOfPreceding(type: number, bytes: Buffer, start: number, end: number): boolean {
    if (type === COMMAND_COMPLETE) {
      this.#queue[0]!.isPreceded = false;
      this.readsNulls ??= !wasOff(bytes, start, end);
    }
    return type !== ERROR_RESPONSE && type !== READY_FOR_QUERY;
  }

  /** Decides about a message that has to be collected. */
  #accepts(type: number, bytes: number): boolean {
    if (type === DATA_ROW) return this.#acceptsRow(bytes);
    if (bytes <= MOST_TEXT_BYTES) return true;
    if (type === ERROR_RESPONSE) this.#failure ??= this.#failureOf(tooLong(bytes));
    return type !== ERROR_RESPONSE && type !== NOTICE_RESPONSE;
  }

  #acceptsRow(bytes: number): boolean {
    return this.#queue[0]?.accepts(bytes) ?? true;
  }

  #addRow(bytes: Buffer, start: number, isKept: boolean): void {
    if (!this.#row) this.#row = rowAt(bytes, start, isKept);
    else if (this.#queue[0]?.statement.hasRows) this.#row.push(...rowAt(bytes, start, isKept));
  }

  #failureOf(failure: pg.DatabaseError): Failure {
    const [execution] = this.#queue;
    if (!execution) return failure;
    const { isCommand, values } = execution;
    const isParsed = isCommand || execution.isParsed;
    const isBound = isCommand || this.#isBound;
    const isAnalyzed = isCommand || this.#isAnalyzed || !isParsed;
    const staleness = stalenessOf(failure, { isParsed, isAnalyzed, isBound });
    return Object.assign(failure, {
      ...(values.length > 0 && !isBound && { isBeforeRun: true }),
      ...(staleness && { staleness }),
    });
  }

  #finish(): void {
    const execution = this.#queue.shift();
    if (!execution) throw new Error('an answer without a statement');
    if (!this.isUnawaited) this.#cancelledAt = Number.NEGATIVE_INFINITY;
    const row = this.#row ?? NO_ROW;
    const failure = this.#failure;
    this.#row = null;
    this.#failure = null;
    this.#isAnalyzed = false;
    this.#isBound = false;
    this.#measure(execution, failure === null);
    if (failure && (execution.isParsed || failure.staleness)) this.#prepared.delete(execution.statement.name);
    if (execution.state !== 'discarded') {
      if (failure && this.#isToRunAgain(execution, failure)) this.#events.undone(execution);
      else if (!failure || !this.#isOutdated(execution, failure)) execution.done(failure, row);
    }
    this.#events.advanced(this);
  }

  /** True when nothing of the execution has been kept and another run may succeed. */
  #isToRunAgain(execution: Execution, failure: Failure): boolean {
    if (execution.mayBeHit && execution.state === 'awaited' && isCancelled(failure)) return true;
    if (execution.wasRetried) return false;
    const isStale = failure.staleness === 'statement';
    if (!isStale && !(isReadOnly(failure) && this.#events.readOnly(this))) return false;
    execution.wasRetried = true;
    execution.isUnnamed ||= isStale;
    return true;
  }

  /** True when the execution is repeated in another session. A transaction is repeated as a whole, by its owner. */
  #isOutdated(execution: Execution, failure: Failure): boolean {
    return (
      failure.staleness === 'session' && !this.isTaken && this.#events.outdated(this, execution, failure)
    );
  }

  /** Measures a statement. Only a follower shows how long Postgres took, because it started when the one before had
   *  ended. The time of the first one is mostly network latency and the load of this process. */
  #measure({ statement, isFollower }: Execution, isGood: boolean): void {
    const now = performance.now();
    const beganAt = this.#since;
    this.#events.answered(beganAt, now);
    if (isGood && isFollower) statement.tookMs = updatedAverage(statement.tookMs, now - beganAt);
    this.#since = now;
    this.#isSent = this.#queue.length > 0;
    this.#backlogMs = 0;
    for (const other of this.#queue) this.#backlogMs += other.statement.tookMs ?? Number.POSITIVE_INFINITY;
  }

  #end(reason: Error): void {
    this.#isClosed = true;
    const first = this.#failure;
    for (const [i, execution] of this.#queue.splice(0).entries()) {
      if (execution.state !== 'discarded') execution.done(i === 0 && first ? first : reason, NO_ROW);
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.closed(this);
  }
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

/** Returns the part of the session that may be out of date, as an error says. */
export function stalenessIn(failure: unknown): Staleness | null {
  return (failure as { readonly staleness?: Staleness } | null)?.staleness ?? null;
}
