/** Creates databases for tests on the Postgres server of the run (testing/setup.ts). In: the server's URL from vitest's globalSetup.
 *  Out: a database of the caller's own, dropped when the caller says so. */
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The superuser URL of the run's Postgres, database `postgres`. */
    postgresUrl: string;
  }
}

export type TestDatabase = {
  readonly url: string;
  /** Runs any number of SQL statements and returns the rows of the last one. */
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  readonly drop: () => Promise<void>;
};

let counter = 0;

/** Creates an empty database with a name of its own. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${process.pid}_${Date.now().toString(36)}_${counter++}`;
  await onServer(server, `create database "${name}"`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  pool.on('error', () => {});
  return {
    url: url.href,
    sql: async (text, values) => {
      const result = await pool.query(text, values ? [...values] : undefined);
      const last = Array.isArray(result) ? result[result.length - 1] : result;
      return last.rows;
    },
    drop: async () => {
      await pool.end();
      await onServer(server, `drop database if exists "${name}" with (force)`);
    },
  };
}

async function onServer(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}
