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

/** Applies missing migrations and returns their versions in order. Raises `unsupportedCatalogVersion` if a newer engine has migrated
 *  the database, because its tables may mean something else. The client must be inside a transaction. */
export async function migrate(client: ClientBase): Promise<readonly number[]> {
  const migrations = await listMigrations();
  await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
  const applied = await appliedVersions(client);
  refuseNewer(applied, migrations);
  const missing = migrations.filter((migration) => !applied.includes(migration.version));
  for (const migration of missing) await apply(client, migration);
  return missing.map((migration) => migration.version);
}

async function listMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  return names.map((name) => ({
    version: Number.parseInt(name, 10),
    name: name.replace(/^\d+-|\.sql$/g, ''),
    file: new URL(name, FOLDER),
  }));
}

/** Returns the versions of applied migrations. Checks before it creates, because `create … if not exists` requires the privilege
 *  even if the object exists. */
async function appliedVersions(client: ClientBase): Promise<readonly number[]> {
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
  const applied = await client.query('select version from pergola.migration order by version');
  return applied.rows.map((row: { version: number }) => row.version);
}

function refuseNewer(applied: readonly number[], known: readonly Migration[]): void {
  const newest = Math.max(0, ...applied);
  const supported = Math.max(...known.map((migration) => migration.version));
  if (newest > supported) fail('unsupportedCatalogVersion', { version: String(newest) });
}

async function apply(client: ClientBase, migration: Migration): Promise<void> {
  await client.query(await readFile(migration.file, 'utf8'));
  await client.query('insert into pergola.migration (version, name) values ($1, $2)', [
    migration.version,
    migration.name,
  ]);
}
