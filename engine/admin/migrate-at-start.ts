/** Migrations at the start of the engine, as the image `cli-migrations` of the reference runs them: the folders of --migrations-dir, one for each
 *  source, or the migrations of the source `default` in the folder itself. They run before the metadata is declared, so that it finds their
 *  tables. Versions that the command line of the reference has recorded count as applied, and its record has those that run here.
 *  Any failure prevents the start. Not here: running (migrate/run-migrations.ts), the metadata (declare.ts). */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { optionAddress } from '../database/connect.ts';
import type { DatabaseAddress } from '../database/connection-defaults.ts';
import { type ConnectionSecrets, databaseAddress } from '../database/database-url.ts';
import { thrownMessage } from '../errors/engine-error.ts';
import { normalMetadata } from '../metadata/normal-form.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { recordIn } from '../migrate/adopt.ts';
import { isFolder, MigrationFolderError, readMigrations } from '../migrate/read-migrations.ts';
import { runMigrations } from '../migrate/run-migrations.ts';
import { withMigrationClient } from '../migrate/session.ts';
import type { EngineState } from '../state/state.ts';
import { runAsEngine } from './run.ts';

export type StartMigrations = {
  readonly folder: string;
  /** The variable with the URL of the database of the source `default`, if it is not the one of the metadata. */
  readonly variable: string | undefined;
  readonly databaseUrl: string | undefined;
  /** The metadata that is declared after the migrations. */
  readonly declared: Metadata | undefined;
  readonly secrets: ConnectionSecrets;
  readonly report: (reason: string) => void;
};

/** The command line of the reference runs what its record does not have, in whatever order it was added. */
const REQUEST = {
  lockTimeoutMs: 5000,
  lockRetries: 10,
  waitMs: 600_000,
  allowsOutOfOrder: true,
  allowsMissing: true,
};

/** Runs what has not run, source by source. Throws with the source if one fails. */
export async function migrateAtStart(state: EngineState, options: StartMigrations): Promise<void> {
  for (const source of sourcesIn(options)) await migrateSource(state, source, options);
  // Another replica may have run them after this one had read its catalogs.
  await perform(state, 'reload_metadata', { reload_remote_schemas: false });
}

/** Returns the names of the sources that the folder has migrations for. Raises MigrationFolderError for a folder of another source. */
function sourcesIn(
  { folder, declared }: StartMigrations,
  known = declared?.sources ?? [],
): readonly string[] {
  if (!isFolder(folder)) throw new MigrationFolderError(`there is no folder ${folder}`);
  const folders = readdirSync(folder).filter((name) => isFolder(join(folder, name)) && !name.startsWith('.'));
  const own = folders.filter((name) => !/^\d+_/.test(name)).sort();
  const unknown = own.find((name) => name !== 'default' && !known.some((source) => source.name === name));
  if (declared && unknown !== undefined) {
    throw new MigrationFolderError(`${join(folder, unknown)}: the metadata has no source ${unknown}`);
  }
  return own.length > 0 ? own : ['default'];
}

async function migrateSource(state: EngineState, source: string, options: StartMigrations): Promise<void> {
  const { folder, report } = options;
  const adopted = recordIn(state.snapshot().catalogStates.cli, source);
  const request = {
    source,
    folder: readMigrations(folder, source),
    adopted: Object.keys(adopted).length > 0 ? adopted : undefined,
    ...REQUEST,
  };
  const inSource = (text: string) => report(`migrations of source ${source}: ${text}`);
  const progress = {
    onWait: () => inSource('another run has the lock; waiting for it'),
    onRetry: inSource,
    onNote: inSource,
    onApplied: ({ version, name }: { readonly version: string; readonly name: string }) =>
      inSource(`applied ${version} ${name}`),
  };
  try {
    const { applied } = await withMigrationClient(addressOf(state, source, options), undefined, (client) =>
      runMigrations(client, request, progress),
    );
    const versions = Object.fromEntries(applied.map(({ version }) => [version, false]));
    const patch = { migrations: { [source]: versions }, settings: { migration_mode: 'true' } };
    if (applied.length > 0) await perform(state, 'patch_catalog_state', { type: 'cli', patch });
  } catch (error) {
    throw new Error(`migrations of source ${source}: ${thrownMessage(error)}`, { cause: error });
  }
}

function addressOf(state: EngineState, source: string, options: StartMigrations): DatabaseAddress {
  const { variable, databaseUrl, declared, secrets } = options;
  const isDefault = source === 'default';
  if (isDefault && variable !== undefined) return databaseAddress({ from_env: variable }, secrets);
  const { sources } = declared ? normalMetadata(declared) : state.snapshot().metadata;
  const found = sources.find(({ name }) => name === source);
  if (found) return databaseAddress(found.configuration.connection_info.database_url, secrets);
  if (isDefault && databaseUrl !== undefined) return optionAddress(databaseUrl);
  throw new Error('the metadata has no such source');
}

async function perform(state: EngineState, type: string, args: object): Promise<void> {
  const { status, body, unexpected } = await runAsEngine(
    state,
    { type, args },
    'pergola serve --migrations-dir',
  );
  if (status !== 200) throw new Error((body as { error: string }).error, { cause: unexpected });
}
