/** A database behind four verbs: one prepared statement, a transaction, a plain query, close.
 *  Results of `run` are text as Postgres sent it; no type parser runs. Statements are named by their text, so a plan that
 *  is used again is prepared once a connection; with `usePreparedStatements` off (pgbouncer in transaction mode) they
 *  are not. An idle connection that breaks is replaced, never an exception of the process.
 *  Not here: which database a source means (sources.ts), what an SQLSTATE means to a client (pg-errors.ts). */
import pg from 'pg';
import { sqlStateOf } from './pg-errors.ts';

/** The columns of a statement's first row as text; empty when there was no row. */
export type Row = readonly (string | null)[];

/** An empty name: parsed for this one run and forgotten. */
export type NamedStatement = { readonly name: string; readonly text: string };

/** Runs a statement on a connection one already has. */
export type Run = (statement: NamedStatement, values: readonly unknown[]) => Promise<Row>;

export type PoolOptions = {
  readonly maxConnections?: number;
  readonly idleTimeoutSeconds?: number;
  /** How long to wait for a free connection; absent is for ever. */
  readonly poolTimeoutSeconds?: number;
  readonly connectionLifetimeSeconds?: number;
  readonly usePreparedStatements?: boolean;
  readonly isolationLevel?: 'read-committed' | 'repeatable-read' | 'serializable';
};

export type TransactionOptions = {
  readonly readOnly?: boolean;
  /** Close the connection afterwards: SQL of a client may have changed its settings (`set role`), which the next user of
   *  the connection must not inherit. */
  readonly isForeign?: boolean;
};

export interface Database {
  readonly run: Run;
  /** BEGIN … COMMIT on one connection, ROLLBACK when `body` throws. `run` prepares on that connection. */
  transaction<T>(
    options: TransactionOptions,
    body: (client: pg.PoolClient, run: Run) => Promise<T>,
  ): Promise<T>;
  /** A connection without a transaction around; it is closed afterwards, whatever `body` has set on it. */
  session<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  query(text: string, values?: readonly unknown[]): Promise<pg.QueryResult>;
  close(): Promise<void>;
}

/** Distinct statements kept prepared on a connection. A connection that has seen more is replaced, which is how
 *  statements of plans long gone are forgotten. */
const MOST_PREPARED = 1000;

const AS_TEXT = { getTypeParser: () => (value: string) => value };

export function openDatabase(url: string, options: PoolOptions = {}): Database {
  return new PooledDatabase(url, options);
}

/** Runs a statement on a connection one already has, for callers that hold one of their own. */
export async function runOn(
  client: pg.ClientBase,
  statement: NamedStatement,
  values: readonly unknown[],
): Promise<Row> {
  return firstRow(await client.query<string[]>(configOf(statement, values)));
}

function configOf({ name, text }: NamedStatement, values: readonly unknown[]) {
  const types = AS_TEXT as unknown as pg.CustomTypesConfig;
  return { name, text, values: values as unknown[], rowMode: 'array' as const, types };
}

function firstRow(result: pg.QueryArrayResult<string[]>): Row {
  return result.rows[0] ?? [];
}

class PooledDatabase implements Database {
  readonly #pool: pg.Pool;
  readonly #begin: string;
  readonly #isNamed: boolean;
  readonly #prepared = new WeakMap<pg.PoolClient, Set<string>>();

  constructor(url: string, options: PoolOptions) {
    this.#isNamed = options.usePreparedStatements ?? true;
    this.#begin = `begin isolation level ${(options.isolationLevel ?? 'read-committed').replace('-', ' ')}`;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: options.maxConnections ?? 50,
      idleTimeoutMillis: (options.idleTimeoutSeconds ?? 180) * 1000,
      connectionTimeoutMillis: (options.poolTimeoutSeconds ?? 0) * 1000,
      maxLifetimeSeconds: options.connectionLifetimeSeconds ?? 600,
      keepAlive: true,
      application_name: 'pergola',
    });
    // The pool has already discarded the connection; the next request opens another.
    this.#pool.on('error', () => {});
    // A connection that breaks while it is lent out fails its query; without a listener it would end the process too.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** With callbacks: each promise between here and the driver costs 2 % of a small query's time. */
  readonly run: Run = (statement, values) =>
    new Promise((resolve, reject) => {
      this.#pool.connect((refused, client, release) => {
        if (refused || !client) {
          reject(refused ?? new Error('the pool gave no connection'));
          return;
        }
        const config = configOf(this.#prepare(client, statement), values);
        client.query<string[]>(config, (error: Error | undefined, result) => {
          release(error ? isConnectionLost(error) : this.#isSpent(client));
          if (error) reject(error);
          else resolve(firstRow(result));
        });
      });
    });

  async transaction<T>(
    options: TransactionOptions,
    body: (client: pg.PoolClient, run: Run) => Promise<T>,
  ): Promise<T> {
    const client = await this.#pool.connect();
    let isBroken = options.isForeign ?? false;
    try {
      await client.query(`${this.#begin}${options.readOnly ? ' read only' : ''}`);
      const result = await body(client, (statement, values) => {
        return runOn(client, this.#prepare(client, statement), values);
      });
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => {
        isBroken = true;
      });
      throw error;
    } finally {
      client.release(isBroken || this.#isSpent(client));
    }
  }

  async session<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      return await body(client);
    } finally {
      client.release(true);
    }
  }

  query(text: string, values?: readonly unknown[]): Promise<pg.QueryResult> {
    return this.#pool.query(text, values ? [...values] : undefined);
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  /** The statement under the name it is to have on this connection; notes that it will be prepared there. */
  #prepare(client: pg.PoolClient, statement: NamedStatement): NamedStatement {
    if (statement.name === '') return statement;
    if (!this.#isNamed) return { name: '', text: statement.text };
    let names = this.#prepared.get(client);
    if (!names) {
      names = new Set();
      this.#prepared.set(client, names);
    }
    names.add(statement.name);
    return statement;
  }

  /** Has the connection had enough prepared statements? */
  #isSpent(client: pg.PoolClient): boolean {
    return (this.#prepared.get(client)?.size ?? 0) > MOST_PREPARED;
  }
}

/** SQLSTATE class 08 and 57P, or no SQLSTATE at all: the connection is gone, not the statement wrong. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || state.startsWith('08') || state.startsWith('57P');
}
