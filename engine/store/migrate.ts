/** Migrates the metadata database: creates the schema `pergola`, then applies migrations/NNNN-name.sql in order and records each in
 *  pergola.migration. Everything runs in one transaction under an advisory lock, so replicas that start together wait for the
 *  first one and then find nothing to do. Not here: the content of the tables (store.ts). */
import { readdir, readFile } from 'node:fs/promises';
import type { ClientBase } from 'pg';
import { fail } from '../errors/engine-error.ts';

/** An arbitrary key that no other program locks: "pergola" in ASCII, cut to 63 bits. */
const ADVISORY_LOCK = '8097875193516056673';

const FOLDER = new URL('./migrations/', import.meta.url);

type Migration = { readonly version: number; readonly name: string; readonly file: URL };
/** A row of pergola.migration. `readableFrom` is the oldest migration whose engines can use the database after this one. */
type Applied = { readonly version: number; readonly readableFrom: number };

/** Applies missing migrations and returns their versions in order. Raises `unsupportedCatalogVersion` if a newer engine has migrated
 *  the database and did not mark it as readable from here (ADR 30). The client must be inside a transaction. */
export async function migrate(client: ClientBase): Promise<readonly number[]> {
  const migrations = await listMigrations();
  await lockMigrations(client);
  const applied = await appliedMigrations(client);
  refuseNewer(applied, migrations);
  const versions = applied.map(({ version }) => version);
  const missing = migrations.filter((migration) => !versions.includes(migration.version));
  for (const migration of missing) await apply(client, migration);
  return missing.map((migration) => migration.version);
}

/** Waits for other migrations of the database, and keeps them waiting until the end of the transaction. */
export async function lockMigrations(client: ClientBase): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
}

/** Returns the oldest migration whose engines can use a database after the migration, as its first comment says:
 *  `-- Readable from: 11`. Undefined where it says nothing. */
export function readableFrom(sql: string): number | undefined {
  const mark = /^-- Readable from: (\d+)$/m.exec(sql)?.[1];
  return mark === undefined ? undefined : Number(mark);
}

async function listMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  return names.map((name) => ({
    version: Number.parseInt(name, 10),
    name: name.replace(/^\d+-|\.sql$/g, ''),
    file: new URL(name, FOLDER),
  }));
}

/** Returns the applied migrations. Checks before it creates, because `create … if not exists` requires the privilege
 *  even if the object exists. */
async function appliedMigrations(client: ClientBase): Promise<readonly Applied[]> {
  const found = await client.query(
    `select to_regnamespace('pergola') as schema, to_regclass('pergola.migration') as migration`,
  );
  if (!found.rows[0].schema) await client.query('create schema pergola');
  if (!found.rows[0].migration) {
    await client.query(
      `create table pergola.migration (
         version integer primary key,
         name text not null,
         applied_at timestamptz not null default now()
       )`,
    );
  }
  // Before migration 11 the table has no column `readable_from`.
  const applied = await client.query(
    `select version, coalesce((to_jsonb(m) ->> 'readable_from')::int, version) as "readableFrom"
       from pergola.migration m order by version`,
  );
  return applied.rows;
}

function refuseNewer(applied: readonly Applied[], known: readonly Migration[]): void {
  const supported = Math.max(...known.map((migration) => migration.version));
  const newer = applied.filter(({ version }) => version > supported);
  if (newer.some((migration) => migration.readableFrom > supported)) {
    fail('unsupportedCatalogVersion', { version: String(newer.at(-1)?.version) });
  }
}

async function apply(client: ClientBase, { version, name, file }: Migration): Promise<void> {
  const sql = await readFile(file, 'utf8');
  await client.query(sql);
  await client.query('insert into pergola.migration (version, name) values ($1, $2)', [version, name]);
  const mark = readableFrom(sql);
  if (mark !== undefined) {
    await client.query('update pergola.migration set readable_from = $2 where version = $1', [version, mark]);
  }
}
