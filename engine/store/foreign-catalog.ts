/** Reads metadata and migration state from the schema `hdb_catalog` that Hasura keeps in its metadata database. The
 *  database is only read, in one transaction.
 *  In: the URL of the database. Out: the document as stored, its resource version, and the states of the command line and the console.
 *  Not here: events and their logs, which stay where they are; names of session variables (metadata/header-prefix.ts); what becomes of
 *  the document (bin/import.ts). Reference: docs/guides/metadata.md. */
import type pg from 'pg';
import { connectTo, optionAddress } from '../database/connect.ts';
import { parseJson } from '../json/parse-json.ts';
import { isRecord, type JsonRecord } from '../json/value.ts';

export type ForeignCatalog = {
  readonly metadata: JsonRecord;
  readonly resourceVersion: number | null;
  /** The states as `set_catalog_state` takes them. */
  readonly cli: JsonRecord;
  readonly console: JsonRecord;
};

/** Raised for a database without such a catalog, or with one that is too old. */
export class ForeignCatalogError extends Error {}

const TIMEOUT_MS = 10_000;
const TABLES = ['hdb_metadata', 'hdb_version', 'schema_migrations', 'migration_settings'] as const;

/** Returns the catalog in a database. Raises ForeignCatalogError. */
export async function readForeignCatalog(url: string): Promise<ForeignCatalog> {
  const client = await connectTo(optionAddress(url), {
    applicationName: 'pergola import',
    timeoutMs: TIMEOUT_MS,
  });
  try {
    await client.query('begin transaction isolation level repeatable read read only');
    return await readCatalog(client);
  } finally {
    await client.end();
  }
}

/** Returns the state of the command line in a database; null when the database has no such catalog. */
export async function readForeignCliState(client: pg.ClientBase): Promise<JsonRecord | null> {
  const { read, has } = await catalogReader(client);
  if (!has.has('hdb_version') && !has.has('schema_migrations')) return null;
  return readCliState(read, (await read('hdb_version', '*', '1'))[0]);
}

async function readCatalog(client: pg.Client): Promise<ForeignCatalog> {
  const { read, has } = await catalogReader(client);
  const [version] = await read('hdb_version', '*', '1');
  const [stored] = await read('hdb_metadata', '*', '1');
  if (!isRecord(stored?.['metadata'])) throw new ForeignCatalogError(missing(has, version));
  const resourceVersion = stored['resource_version'];
  return {
    metadata: stored['metadata'],
    resourceVersion: typeof resourceVersion === 'number' ? resourceVersion : null,
    cli: await readCliState(read, version),
    console: recordOf(version?.['console_state']),
  };
}

type ReadTable = (table: (typeof TABLES)[number], columns: string, order: string) => Promise<JsonRecord[]>;

/** Returns the tables of the catalog that exist, and a function that reads one; a missing table is empty. */
async function catalogReader(
  client: pg.ClientBase,
): Promise<{ readonly has: ReadonlySet<string>; readonly read: ReadTable }> {
  const has = new Set<string>();
  for (const table of TABLES) if (await hasTable(client, table)) has.add(table);
  const read: ReadTable = async (table, columns, order) => {
    if (!has.has(table)) return [];
    // Versions of the catalog differ in their columns, so rows are read as JSON.
    const { rows } = await client.query(
      `select (select row_to_json(t))::text as row from (select ${columns} from hdb_catalog.${table} order by ${order}) t`,
    );
    return rows.map(({ row }: { readonly row: string }) => parseJson(row) as JsonRecord);
  };
  return { has, read };
}

async function readCliState(read: ReadTable, version: JsonRecord | undefined): Promise<JsonRecord> {
  return cliState(
    recordOf(version?.['cli_state']),
    await read('schema_migrations', 'version::text, dirty', '1'),
    await read('migration_settings', 'setting, value', '1'),
  );
}

async function hasTable(client: pg.ClientBase, table: string): Promise<boolean> {
  const { rows } = await client.query('select to_regclass($1) is not null as found', [
    `hdb_catalog.${table}`,
  ]);
  return rows[0].found;
}

function missing(has: ReadonlySet<string>, version: JsonRecord | undefined): string {
  if (!has.has('hdb_version')) return 'the database has no schema hdb_catalog with metadata';
  const known = version?.['version'] === undefined ? '' : ` (catalog version ${String(version['version'])})`;
  return (
    `hdb_catalog has no document in hdb_metadata${known}: ` +
    'start Hasura v2 once, which upgrades the catalog, or export the metadata into a directory'
  );
}

/** Returns the state of the command line. Migrations that only the older tables have are those of the database `default`; the state
 *  then says that they were copied, so that the command line does not look for the tables. */
function cliState(
  state: JsonRecord,
  migrations: readonly JsonRecord[],
  settings: readonly JsonRecord[],
): JsonRecord {
  const isCurrent = Object.keys(recordOf(state['migrations'])).length > 0;
  if (isCurrent || migrations.length === 0) return state;
  const applied = migrations.map(({ version, dirty }) => [String(version), dirty === true]);
  const set = settings.map(({ setting, value }) => [String(setting), value]);
  return {
    ...state,
    migrations: { default: Object.fromEntries(applied) },
    settings: { ...Object.fromEntries(set), ...recordOf(state['settings']) },
    isStateCopyCompleted: true,
  };
}

function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}
