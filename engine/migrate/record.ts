/** The record of migrations in the database that they change: schema `pergola_migrations`, one row for each version of a source.
 *  In: a connection. Out: rows. Every write is a compare-and-swap, so that of two runs that do not see each other's lock (as behind a
 *  pooler) one stops before it repeats a statement.
 *  Not here: the meaning of the rows (assess.ts), the lock (lock.ts). Reference: docs/guides/migrations.md. */
import type { ClientBase } from 'pg';

/** A version that has run, or began to run outside of a transaction. */
export type RecordRow = {
  readonly version: string;
  readonly name: string;
  /** Null for a version that was adopted without its file. */
  readonly sha256: string | null;
  readonly state: 'applied' | 'running' | 'failed';
  readonly origin: 'run' | 'marked' | 'adopted';
  /** The number of statements of the file. */
  readonly statements: number | null;
  /** The number of the last statement that began, from 1; null when it is not known. */
  readonly started: number | null;
  /** The number of statements that finished. */
  readonly finished: number;
  /** The checksum of the statements that finished. */
  readonly finishedSha256: string | null;
  readonly error: string | null;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
};

/** Raised when another run has changed a row in the meantime. */
export class RecordConflict extends Error {}

const SCHEMA = 'create schema pergola_migrations';
const TABLE = `
create table pergola_migrations.migration (
  source text not null,
  version bigint not null,
  name text not null,
  sha256 text,
  state text not null check (state in ('applied', 'running', 'failed')),
  origin text not null check (origin in ('run', 'marked', 'adopted')),
  statements integer,
  started integer,
  finished integer not null default 0,
  finished_sha256 text,
  error text,
  run uuid not null,
  applied_by text not null default session_user,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (source, version))`;

/** Creates the schema and the table where they are missing. Checks first, because `create … if not exists` requires the privilege even
 *  if the object exists. The caller holds the lock. */
export async function createRecord(client: ClientBase): Promise<void> {
  const { schema, table } = await existing(client);
  if (!schema) await client.query(SCHEMA);
  if (!table) await client.query(TABLE);
}

async function existing(
  client: ClientBase,
): Promise<{ readonly schema: string | null; readonly table: string | null }> {
  const { rows } = await client.query(
    `select to_regnamespace('pergola_migrations')::text as schema,
            to_regclass('pergola_migrations.migration')::text as table`,
  );
  return rows[0];
}

/** Returns the rows of a source in the order of their versions; none when there is no record. */
export async function readRecord(client: ClientBase, source: string): Promise<readonly RecordRow[]> {
  if (!(await existing(client)).table) return [];
  const { rows } = await client.query(
    `select version::text, name, sha256, state, origin, statements, started, finished,
            finished_sha256 as "finishedSha256", error, started_at as "startedAt", finished_at as "finishedAt"
       from pergola_migrations.migration m where source = $1 order by m.version`,
    [source],
  );
  return rows;
}

/** One run of migrations: the source that it changes, and an identity of its own. */
export type RecordedRun = { readonly client: ClientBase; readonly source: string; readonly run: string };

type NewRow = Pick<RecordRow, 'version' | 'name' | 'sha256' | 'state' | 'origin'> &
  Partial<Pick<RecordRow, 'statements' | 'started' | 'error'>>;

/** Adds a row. Raises RecordConflict when the version has one. */
export async function addRow({ client, source, run }: RecordedRun, row: NewRow): Promise<void> {
  const { rowCount } = await client.query(
    `insert into pergola_migrations.migration
       (source, run, version, name, sha256, state, origin, statements, started, error, finished_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, case when $6 = 'applied' then clock_timestamp() end)
     on conflict do nothing`,
    [
      ...[source, run, row.version, row.name, row.sha256, row.state, row.origin],
      ...[row.statements ?? null, row.started ?? null, row.error ?? null],
    ],
  );
  requireOne(rowCount, row.version);
}

/** Records that the transaction of a version is about to commit. */
export async function stampRow({ client, source, run }: RecordedRun, version: string): Promise<void> {
  const { rowCount } = await client.query(
    `update pergola_migrations.migration set state = 'applied', finished_at = clock_timestamp(), finished = statements, started = statements
      where source = $1 and version = $3 and run = $2`,
    [source, run, version],
  );
  requireOne(rowCount, version);
}

/** Makes a row that did not finish that of this run, which continues after `finished` statements of the file as it is now. */
export async function takeRow(
  { client, source, run }: RecordedRun,
  before: RecordRow,
  now: Readonly<Record<'sha256' | 'finishedSha256', string> & Record<'statements' | 'finished', number>>,
): Promise<void> {
  const { rowCount } = await client.query(
    `update pergola_migrations.migration
        set run = $2, origin = 'run', sha256 = $4, statements = $5::integer, started = $6::integer, finished = $6::integer, error = null,
            finished_sha256 = $10, state = case when $6::integer = $5::integer then 'applied' else 'running' end,
            finished_at = case when $6::integer = $5::integer then clock_timestamp() end
      where source = $1 and version = $3 and state = $7 and started is not distinct from $8 and finished = $9`,
    [
      ...[source, run, before.version, now.sha256, now.statements, now.finished],
      ...[before.state, before.started, before.finished, now.finishedSha256],
    ],
  );
  requireOne(rowCount, before.version);
}

/** Records that a statement begins. From now on it is not known whether it had an effect. */
export async function startStatement(
  { client, source, run }: RecordedRun,
  version: string,
  statement: number,
): Promise<void> {
  const { rowCount } = await client.query(
    `update pergola_migrations.migration set started = $4
      where source = $1 and version = $3 and run = $2 and state = 'running' and started = $4 - 1 and finished = $4 - 1`,
    [source, run, version, statement],
  );
  requireOne(rowCount, version);
}

/** Records that a statement has finished; the last one makes the version applied. */
export async function finishStatement(
  { client, source, run }: RecordedRun,
  version: string,
  { statement, finishedSha256 }: { readonly statement: number; readonly finishedSha256: string },
): Promise<void> {
  const { rowCount } = await client.query(
    `update pergola_migrations.migration
        set finished = $4, finished_sha256 = $5,
            state = case when statements = $4 then 'applied' else state end,
            finished_at = case when statements = $4 then clock_timestamp() end
      where source = $1 and version = $3 and run = $2 and started = $4 and finished = $4 - 1`,
    [source, run, version, statement, finishedSha256],
  );
  requireOne(rowCount, version);
}

/** Records that the current statement of a version failed. */
export async function failStatement(
  { client, source, run }: RecordedRun,
  version: string,
  error: string,
): Promise<void> {
  await client.query(
    `update pergola_migrations.migration set state = 'failed', error = $4
      where source = $1 and version = $3 and run = $2`,
    [source, run, version, error],
  );
}

/** Records a version whose transaction ended before its file did, whether its row of this run is still there or not. */
export async function recordFailure(
  { client, source, run }: RecordedRun,
  row: Omit<NewRow, 'statements'> & Pick<RecordRow, 'statements'>,
): Promise<void> {
  const { rowCount } = await client.query(
    `insert into pergola_migrations.migration as m
       (source, run, version, name, sha256, state, origin, statements, started, error)
     values ($1, $2, $3, $4, $5, 'failed', $6, $7, $8, $9)
     on conflict (source, version) do update set state = 'failed', started = excluded.started, error = excluded.error
      where m.run = excluded.run or m.state <> 'applied'`,
    [
      ...[source, run, row.version, row.name, row.sha256, row.origin],
      ...[row.statements, row.started ?? null, row.error ?? null],
    ],
  );
  requireOne(rowCount, row.version);
}

/** Removes the row of a version that is undone. */
export async function removeRow(client: ClientBase, source: string, version: string): Promise<void> {
  await client.query('delete from pergola_migrations.migration where source = $1 and version = $2', [
    source,
    version,
  ]);
}

/** Records a version as applied with the content of its file, whatever the row says. */
export async function markRow(
  { client, source, run }: RecordedRun,
  { version, name, sha256, statements }: Pick<RecordRow, 'version' | 'name' | 'sha256' | 'statements'>,
): Promise<void> {
  await client.query(
    `insert into pergola_migrations.migration
       (source, run, version, name, sha256, statements, state, origin, finished_at)
     values ($1, $2, $3, $4, $5, $6, 'applied', 'marked', clock_timestamp())
     on conflict (source, version) do update
       set run = excluded.run, name = excluded.name, sha256 = excluded.sha256, statements = excluded.statements,
           state = 'applied', origin = 'marked', error = null, finished_at = excluded.finished_at`,
    [source, run, version, name, sha256, statements],
  );
}

function requireOne(rowCount: number | null, version: string): void {
  if (rowCount === 1) return;
  throw new RecordConflict(
    `another run has changed version ${version} in the record at the same time; this run stops. See: pergola migrate status`,
  );
}
