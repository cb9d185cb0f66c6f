/** A database behind five verbs: one statement, statements in a transaction, a driver's client for administration (in a
 *  transaction or without), a plain query. Statements go over the wire client (wire/), which keeps them prepared by name;
 *  with `usePreparedStatements` off (pgbouncer in transaction mode) it does not. All of them share the connections of one
 *  pool. Not here: which database a source means (sources.ts), what an SQLSTATE means to a client (pg-errors.ts). */
import type pg from 'pg';
import { EngineError } from '../errors/engine-error.ts';
import type { CancelSignal } from '../limits/cancel-signal.ts';
import type { AnswerHolding } from '../limits/memory-budget.ts';
import { retriesAtOnce, timerMs } from '../metadata/schema/number.ts';
import { isReadOnly, stalenessIn, type WireConnection } from '../wire/connection.ts';
import { isNotConnected } from '../wire/dial.ts';
import { mayHoldNull, READ_NULLS } from '../wire/null-elements.ts';
import type { Patience } from '../wire/patience.ts';
import {
  type FailureObserver,
  type PoolCounts,
  type PoolState,
  type Timed,
  type TransactionWatch,
  WaitedTooLong,
  WirePool,
} from '../wire/pool.ts';
import type { Tls } from '../wire/socket.ts';
import type { Staleness } from '../wire/staleness.ts';
import type { NamedStatement, Row, Value } from '../wire/statement.ts';
import { connectTo, dialingOf, optionAddress } from './connect.ts';
import type { DatabaseAddress } from './connection-defaults.ts';
import { type Deadline, timeIsUp, timeLeft } from './deadline.ts';
import { isOfWorker, isOurs, sqlStateOf } from './pg-errors.ts';

export { isNotConnected } from '../wire/dial.ts';
export type { Patience } from '../wire/patience.ts';
export { WaitedTooLong } from '../wire/pool.ts';
export type { NamedStatement, Row } from '../wire/statement.ts';

/** Runs a statement; inside a transaction the patience is that of the transaction. */
export type Run = (statement: NamedStatement, values: readonly Value[], patience?: Patience) => Promise<Row>;

export type PoolOptions = {
  readonly maxConnections?: number;
  readonly idleTimeoutSeconds?: number;
  /** How long to wait for a free connection; absent is for ever. */
  readonly poolTimeoutSeconds?: number;
  readonly connectionLifetimeSeconds?: number;
  /** How often the opening of a connection is tried again. */
  readonly retries?: number;
  readonly maxWaiting?: number;
  readonly usePreparedStatements?: boolean;
  readonly isolationLevel?: 'read-committed' | 'repeatable-read' | 'serializable';
  /** Absent: as the URL says. */
  readonly tls?: Tls;
};

/** Options of a transaction. When its patience ends before the commit, the transaction is rolled back. */
type AtomicOptions = Patience & {
  readonly readOnly?: boolean;
  /** The time at which Postgres ends the statement. Nothing is committed then, and `timeLimitExceeded` is raised. */
  readonly deadline?: Deadline | null;
  /** Called when the transaction failed because of what its session had cached, and the caller repeats it: it is one of several that
   *  end together. */
  readonly onOutdated?: () => void;
  /** The number of statements that the body runs without waiting for any. The commit goes out with the last one: it commits nothing if one of
   *  them fails, but it does if the engine refuses a result. */
  readonly count?: number;
};

export type TransactionOptions = Pick<AtomicOptions, 'readOnly' | 'signal'> & {
  /** Close the connection afterwards: SQL of a client may have changed its settings (`set role`), which the next user of
   *  the connection must not inherit. */
  readonly isForeign?: boolean;
};

export interface Database {
  readonly run: Run;
  /** BEGIN … COMMIT around what `body` runs, ROLLBACK when it throws. BEGIN goes out with the first statement, and statements that `body`
   *  does not wait for with those before them. `body` runs again when the server turned out to be a standby, and when the session may
   *  have failed because of what it had cached before the schema changed. */
  atomic<T>(options: AtomicOptions, body: (run: Run) => Promise<T>): Promise<T>;
  /** As `atomic`, with a client that takes any SQL. */
  transaction<T>(options: TransactionOptions, body: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  /** A connection without a transaction around; it is closed afterwards, whatever `body` has set on it. */
  session<T>(body: (client: pg.ClientBase) => Promise<T>, signal?: CancelSignal): Promise<T>;
  query(text: string, values?: readonly unknown[], signal?: CancelSignal): Promise<pg.QueryResult>;
  /** Called after the schema changed: what the sessions have cached is out of date. Connections in use end with their work. */
  retire(): void;
  readonly counts: PoolCounts;
  readonly state: PoolState;
  /** Waits for what is under way; what is left at `cut` fails. */
  close(cut?: AbortSignal): Promise<void>;
}

/** The limit for a database that does not respond at all, when no wait is set. */
const CONNECT_TIMEOUT_MS = 15_000;

const AS_TEXT = { getTypeParser: () => (value: string) => value };

/** Callbacks for the timing and the failures of connections. */
export type PoolObservers = {
  readonly timed?: Timed | undefined;
  readonly failed?: FailureObserver | undefined;
};

/** A text is an option of the engine. Raises ConnectionStringError. */
export function openDatabase(
  address: string | DatabaseAddress,
  options: PoolOptions = {},
  observers: PoolObservers = {},
): Database {
  return new PooledDatabase(
    typeof address === 'string' ? optionAddress(address) : address,
    options,
    observers,
  );
}

/** Opens a connection beside every pool, runs `select 1` and closes it. Raises what the attempt raises, or that there was no
 *  answer in time. */
export async function probe(
  address: DatabaseAddress,
  tls: Tls | undefined,
  timeoutSeconds: number,
): Promise<void> {
  const timeoutMs = timeoutSeconds * 1000;
  const client = await connectTo(address, { applicationName: 'pergola', timeoutMs, mostMs: timeoutMs }, tls);
  client.on('error', () => {});
  const timeout = setTimeout(() => client.connection.stream.destroy(), timeoutMs);
  try {
    await client.query('select 1');
  } finally {
    clearTimeout(timeout);
    client.end().catch(() => {});
  }
}

/** Returns the database with `around` applied to its statements, with `signal`, which cancels what runs when it is aborted, and with `holding`
 *  for the bytes of results.
 *  `around` does not apply to callers that hold a client of the driver. */
export function wrapped(
  database: Database,
  { signal, holding, around }: Omit<Patience, 'limitMs'> & { readonly around?: Around | undefined },
): Database {
  return new WrappedDatabase(database, { signal, holding }, around);
}

type Around = (run: Run) => Run;

/** Every request has one, so that it creates nothing before a verb is used. */
class WrappedDatabase implements Database {
  readonly #database: Database;
  readonly #around: Around | undefined;
  readonly signal: CancelSignal | undefined;
  readonly holding: AnswerHolding | undefined;

  constructor(database: Database, { signal, holding }: Patience, around: Around | undefined) {
    this.#database = database;
    this.signal = signal;
    this.holding = holding;
    this.#around = around;
  }

  get run(): Run {
    const run: Run = (statement, values, own) =>
      this.#database.run(statement, values, own ? this.#with(own) : this);
    return this.#around ? this.#around(run) : run;
  }

  atomic<T>(options: AtomicOptions, body: (run: Run) => Promise<T>): Promise<T> {
    const around = this.#around;
    return this.#database.atomic(this.#with(options), around ? (run) => body(around(run)) : body);
  }

  transaction<T>(options: TransactionOptions, body: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.#database.transaction(this.#with(options), body);
  }

  session<T>(body: (client: pg.ClientBase) => Promise<T>, own?: CancelSignal): Promise<T> {
    return this.#database.session(body, this.signal ?? own);
  }

  query(text: string, values?: readonly unknown[], own?: CancelSignal): Promise<pg.QueryResult> {
    return this.#database.query(text, values, this.signal ?? own);
  }

  retire(): void {
    this.#database.retire();
  }

  get counts(): PoolCounts {
    return this.#database.counts;
  }

  get state(): PoolState {
    return this.#database.state;
  }

  close(cut?: AbortSignal): Promise<void> {
    return this.#database.close(cut);
  }

  #with<T extends Patience>(options: T): T {
    return { ...options, signal: this.signal ?? options.signal, holding: this.holding };
  }
}

/** Runs a statement on a connection one already has, for callers that hold one of their own. */
export async function runOn(
  client: pg.ClientBase,
  statement: NamedStatement,
  values: readonly unknown[],
): Promise<Row> {
  const { rows } = await client.query<string[]>(configOf(statement, values));
  return rows[0] ?? [];
}

function configOf({ name, text }: NamedStatement, values: readonly unknown[]) {
  const types = AS_TEXT as unknown as pg.CustomTypesConfig;
  return { name, text, values: values as unknown[], rowMode: 'array' as const, types };
}

/** A connection on which a transaction has begun. */
type Begun = {
  readonly connection: WireConnection;
  readonly watch: TransactionWatch | null;
  readonly begun: Promise<void>;
  /** True when statements are not kept prepared. */
  readonly isUnnamed: boolean;
  /** True when the server refused to write. */
  isRefused: boolean;
  /** The part of the session that may be out of date, as its failures say. */
  staleness: Staleness | null;
  /** The statement that was sent last. Null before the first one is sent. */
  last: NamedStatement | null;
  /** True when only the commit is left. */
  hasRun: boolean;
};

type Body<T> = (run: Run) => Promise<T>;

/** A statement that failed before it is repeated, and its error. */
type FailedStatement = { readonly failure: unknown; readonly failed: NamedStatement };

/** The most sessions of a pooler that are replaced for one transaction. */
const MOST_SESSIONS = 50;

const unnamed = (text: string): NamedStatement => ({ name: '', text });
const NOW = unnamed('select pg_catalog.clock_timestamp()');
const SAVEPOINT = unnamed('savepoint afresh');
const TO_SAVEPOINT = unnamed('rollback to savepoint afresh');
/** Ends the session that runs it if it is older than `$1`. */
const END_OLD_SESSION = unnamed(
  `select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity
  where pid = pg_catalog.pg_backend_pid() and backend_start < $1::pg_catalog.timestamptz`,
);

class PooledDatabase implements Database {
  readonly #pool: WirePool;
  readonly #beginText: string;
  /** False behind a pooler, which gives the transactions of one connection different sessions. */
  readonly #hasSessions: boolean;

  constructor(address: DatabaseAddress, options: PoolOptions, { timed, failed }: PoolObservers) {
    this.#beginText = `begin isolation level ${(options.isolationLevel ?? 'read-committed').replace('-', ' ')}`;
    const waitMs = timerMs(options.poolTimeoutSeconds ?? 0);
    this.#hasSessions = options.usePreparedStatements ?? true;
    this.#pool = new WirePool({
      connection: dialingOf(address, {
        applicationName: 'pergola',
        timeoutMs: waitMs || CONNECT_TIMEOUT_MS,
      }),
      maxConnections: options.maxConnections ?? 50,
      idleTimeoutMs: (options.idleTimeoutSeconds ?? 180) * 1000,
      lifetimeMs: (options.connectionLifetimeSeconds ?? 600) * 1000,
      waitMs,
      retries: retriesAtOnce(options.retries ?? 1),
      ...(options.maxWaiting !== undefined && { maxWaiting: options.maxWaiting }),
      isKept: this.#hasSessions,
      runAfresh: (statement, values, patience, failure) =>
        this.#afresh(patience, (run) => run(statement, values), { failure, failed: statement }),
      ...(options.tls && { tls: options.tls }),
      ...(timed && { timed }),
      ...(failed && { failed }),
    });
  }

  get counts(): PoolCounts {
    return this.#pool.counts;
  }

  get state(): PoolState {
    return this.#pool.state;
  }

  readonly run: Run = (statement, values, patience) => this.#pool.run(statement, values, patience);

  async atomic<T>(options: AtomicOptions, body: (run: Run) => Promise<T>): Promise<T> {
    const first = await this.#begin(options);
    try {
      return await this.#inTransaction(first, options, body);
    } catch (error) {
      return this.#again(first, options, body, error);
    }
  }

  /** Repeats a transaction that failed. Nothing of it is kept, so that all of it can run again. Raises its error when that cannot help. */
  async #again<T>(failed: Begun, options: AtomicOptions, body: Body<T>, failure: unknown): Promise<T> {
    const { staleness, last, watch } = failed;
    if (watch?.reason) throw failure;
    if (staleness !== null && options.onOutdated) {
      this.retire();
      // A transaction within this one may have been committed.
      if (!failed.hasRun) options.onOutdated();
      throw failure;
    }
    if (staleness === 'statement' && !failed.isUnnamed) {
      const second = await this.#begin(options, { isUnnamed: true });
      return this.#inTransaction(second, options, body).catch((error: unknown) =>
        this.#again(second, options, body, error),
      );
    }
    if (staleness === 'session' && last && this.#pool.mayRunAfresh(last))
      return this.#afresh(options, body, { failure, failed: last });
    if (options.readOnly || !failed.isRefused || !this.#pool.leave(failed.connection)) throw failure;
    return this.#inTransaction(await this.#begin(options), options, body);
  }

  /** Runs a transaction in a session that has cached nothing of an earlier schema, after it failed with `failure`, which is raised when
   *  there is no such session. */
  async #afresh<T>(options: AtomicOptions, body: Body<T>, given: FailedStatement): Promise<T> {
    if (!this.#hasSessions) return this.#behindPooler(options, body, given);
    const began = performance.now();
    const connection = await this.#pool.takeNew().catch(() => {
      throw given.failure;
    });
    const begun = this.#beginIn(connection, options, true);
    try {
      const result = await this.#inTransaction(begun, options, body);
      this.#pool.retire(began);
      return result;
    } catch (error) {
      if (begun.staleness !== null) this.#pool.failedAfresh(given.failed);
      throw error;
    }
  }

  /** Ends sessions of the pooler in which the transaction fails, until it runs in one that is new. A session ends itself while this
   *  transaction has it, so that no other client loses anything. */
  async #behindPooler<T>(options: AtomicOptions, body: Body<T>, given: FailedStatement): Promise<T> {
    let before: Value = null;
    // It runs statements of its own around those of the body.
    const { count: _, ...waiting } = options;
    for (let left = MOST_SESSIONS; ; left--) {
      let hasEnded = false;
      const begun = await this.#begin(options);
      try {
        return await this.#inTransaction(begun, waiting, async (run) => {
          if (before === null) [before = null] = (await run(NOW, [])) as readonly Value[];
          await run(SAVEPOINT, []);
          try {
            return await body(run);
          } catch (error) {
            if (begun.staleness !== 'session' || left === 0) throw error;
            await run(TO_SAVEPOINT, []);
            hasEnded = await run(END_OLD_SESSION, [before]).then(
              (row) => row.length > 0,
              (reason: unknown) => isConnectionLost(reason),
            );
            if (!hasEnded) this.#pool.failedAfresh(given.failed);
            throw error;
          }
        });
      } catch (error) {
        if (!hasEnded) throw error;
      }
    }
  }

  async #begin(options: AtomicOptions, { isUnnamed = false } = {}): Promise<Begun> {
    const connection = await this.#take(options.deadline ?? null, options.signal);
    return this.#beginIn(connection, options, isUnnamed);
  }

  #beginIn(connection: WireConnection, options: AtomicOptions, isUnnamed: boolean): Begun {
    const watch = isLimited(options) ? this.#pool.watchOver(connection, options) : null;
    const begun = connection.command(this.#beginOf(options.readOnly));
    // Awaited at the end; a statement that fails first must not leave it unheard.
    begun.catch(() => {});
    return {
      connection,
      watch,
      begun,
      isUnnamed,
      isRefused: false,
      staleness: null,
      last: null,
      hasRun: false,
    };
  }

  async #inTransaction<T>(
    transaction: Begun,
    { deadline = null, holding, count }: AtomicOptions,
    body: (run: Run) => Promise<T>,
  ): Promise<T> {
    const { connection, watch, begun } = transaction;
    const whileWaitedFor = () => {
      if (watch?.reason) throw watch.reason;
    };
    let isBroken = false;
    let sent = 0;
    let committed: Promise<void> | undefined;
    try {
      const result = await body(async (statement, values) => {
        whileWaitedFor();
        if (committed) throw new Error('a statement follows the commit of its transaction');
        if (deadline) endAfter(connection, timeLeft(deadline));
        transaction.last = statement;
        try {
          const isKept = this.#hasSessions && !transaction.isUnnamed;
          const row = this.#pool.runOn(connection, statement, values, { isKept, holding });
          if (++sent === count) {
            committed = connection.command('commit');
            committed.catch(() => {});
          }
          return await orTimeIsUp(deadline, row);
        } catch (error) {
          transaction.isRefused ||= isReadOnly(error);
          transaction.staleness ??= stalenessIn(error);
          throw error;
        }
      });
      transaction.hasRun = true;
      await begun;
      if (!committed) {
        if (deadline) timeLeft(deadline);
        whileWaitedFor();
      }
      watch?.end();
      await orTimeIsUp(deadline, committed ?? connection.command('commit'));
      return result;
    } catch (error) {
      watch?.end();
      transaction.staleness ??= stalenessIn(error);
      let cause = error;
      const rollback = () => connection.command('rollback');
      // After a statement that failed, the commit has ended the transaction. Where it was refused itself, nothing is committed.
      const undone = committed?.catch((failure: unknown) => {
        if (sqlStateOf(failure) !== undefined) cause = failure;
        return rollback();
      });
      await (undone ?? rollback()).catch(() => {
        isBroken = true;
      });
      throw watch?.reason ?? cause;
    } finally {
      this.#pool.giveBack(connection, isBroken);
    }
  }

  async transaction<T>(options: TransactionOptions, body: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const { isForeign = false, readOnly = false } = options;
    return this.#lend(
      isForeign,
      options.signal,
      async (client, watch) => {
        await client.query(this.#beginOf(readOnly));
        try {
          const result = await body(client);
          if (watch?.reason) throw watch.reason;
          watch?.end();
          await client.query('commit');
          return result;
        } catch (error) {
          watch?.end();
          // Where that fails, too, the connection is not idle and will not be used again.
          await client.query('rollback').catch(() => {});
          throw error;
        }
      },
      readOnly,
    );
  }

  session<T>(body: (client: pg.ClientBase) => Promise<T>, signal?: CancelSignal): Promise<T> {
    return this.#lend(true, signal, body);
  }

  query(text: string, values?: readonly unknown[], signal?: CancelSignal): Promise<pg.QueryResult> {
    return this.#lend(false, signal, async (client, _watch, connection) => {
      const run = () => client.query(text, values ? [...values] : undefined);
      if (connection.readsNulls || !mayHoldNull(values ?? [])) return run();
      connection.readsNulls ??= (await client.query('show array_nulls')).rows[0].array_nulls === 'on';
      return connection.readsNulls ? run() : withNulls(client, run);
    });
  }

  async #take(deadline: Deadline | null, signal?: CancelSignal): Promise<WireConnection> {
    if (!deadline) return this.#pool.take(undefined, signal);
    try {
      return await this.#pool.take(timeLeft(deadline), signal);
    } catch (error) {
      throw error instanceof WaitedTooLong ? timeIsUp(deadline) : error;
    }
  }

  /** Takes a connection whose session has cached nothing: functions that foreign SQL calls after it changed a type would use the former one.
   *  The connection is closed afterwards, so that this one replaces one of the pool early. */
  async #takeUnused(signal?: CancelSignal): Promise<WireConnection> {
    const connection = await this.#pool.take(undefined, signal);
    if (!this.#hasSessions || !connection.isUsed) return connection;
    const opened = this.#pool.takeNew();
    this.#pool.giveBack(connection, true);
    return opened.catch(() => this.#pool.take(undefined, signal));
  }

  #beginOf(readOnly = false): string {
    return readOnly ? `${this.#beginText} read only` : this.#beginText;
  }

  retire(): void {
    if (this.#hasSessions) this.#pool.retire();
  }

  close(cut?: AbortSignal): Promise<void> {
    return this.#pool.close(cut);
  }

  /** The driver's client of a connection; afterwards that is used on only if nothing is open on it. */
  async #lend<T>(
    isForeign: boolean,
    signal: CancelSignal | undefined,
    body: (client: pg.ClientBase, watch: TransactionWatch | null, connection: WireConnection) => Promise<T>,
    isReader = false,
  ): Promise<T> {
    const connection = isForeign ? await this.#takeUnused(signal) : await this.#pool.take(undefined, signal);
    const client = connection.lend();
    const watch = signal ? this.#pool.watchOver(connection, { signal }) : null;
    try {
      return await body(client, watch, connection);
    } catch (error) {
      if (!isReader && isReadOnly(error)) this.#pool.leave(connection);
      throw watch?.reason ?? error;
    } finally {
      watch?.end();
      this.#pool.giveBack(connection, isForeign || client.getTransactionStatus() !== 'I');
    }
  }
}

/** Runs a query in a transaction that reads null elements of arrays. */
async function withNulls<T>(client: pg.ClientBase, run: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    await client.query(READ_NULLS);
    const result = await run();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

function isLimited({ signal, limitMs }: Patience): boolean {
  return signal !== undefined || (limitMs ?? null) !== null;
}

/** Sets the time limit of the transaction. If that fails, the following statements fail too. */
function endAfter(connection: WireConnection, timeMs: number): void {
  connection.command(`set local statement_timeout = ${timeMs}`).catch(() => {});
}

const QUERY_CANCELED = '57014';

async function orTimeIsUp<T>(deadline: Deadline | null, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw deadline && sqlStateOf(error) === QUERY_CANCELED ? timeIsUp(deadline) : error;
  }
}

/** The connection could not be opened, for any reason; or it has SQLSTATE class 08 or 57P, or no SQLSTATE at all: the connection is
 *  gone, not the statement wrong. */
export function isConnectionLost(error: unknown): boolean {
  if (isOurs(error) || isOfWorker(error) || error instanceof EngineError) return false;
  if (isNotConnected(error)) return true;
  const state = sqlStateOf(error);
  return state === undefined || state.startsWith('08') || state.startsWith('57P');
}
