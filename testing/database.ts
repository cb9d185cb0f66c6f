/** Databases for tests: one embedded Postgres a run (testing/setup.ts), a fresh database a test file.
 *  In: the server's URL from vitest's globalSetup. Out: a database of the caller's own, dropped when it says so. */
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser URL of the run's Postgres, database `postgres`. */
    postgresUrl: string;
  }
}

export type TestDatabase = {
  readonly url: string;
  /** Runs SQL text, any number of statements; rows of the last one. */
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  readonly drop: () => Promise<void>;
};

let counter = 0;

/** A new empty database with a name of its own. */
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
