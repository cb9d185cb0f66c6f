/** `pergola migrate up`: runs what has not run. Progress is on standard error with `-o json`, whose standard output is one document.
 *  Exit codes: 0 done or nothing to do, 1 refused or failed. Not here: running (engine/migrate/run-migrations.ts). */
import type pg from 'pg';
import { type ForeignRecord, recordIn } from '../../engine/migrate/adopt.ts';
import type { Migration } from '../../engine/migrate/migration.ts';
import { type MigrationFolder, readMigrations } from '../../engine/migrate/read-migrations.ts';
import { readRecord } from '../../engine/migrate/record.ts';
import {
  MigrationRefusal,
  type MigrationRequest,
  runMigrations,
} from '../../engine/migrate/run-migrations.ts';
import { withMigrationSession } from '../../engine/migrate/session.ts';
import { readForeignCliState } from '../../engine/store/foreign-catalog.ts';
import { readCliState } from '../../operator/engine/answers.ts';
import { operation, perform } from '../../operator/engine/request.ts';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import type { MigrateFlags } from './flags.ts';

const DEFAULTS = { lockTimeoutSeconds: 5, lockRetries: 10, waitSeconds: 600 };

export async function up(flags: MigrateFlags): Promise<number> {
  if (flags.engine() && !flags.has('adopt')) throw new FlagProblem('--engine needs --adopt');
  const folder = readMigrations(flags.folder, flags.source);
  if (folder.migrations.length === 0 && folder.problems.length === 0) {
    throw new Error(
      `${folder.path} contains no migrations; write one: pergola migrate create NAME -f FOLDER`,
    );
  }
  const request = requestOf(flags, folder);
  return withMigrationSession(flags.databaseUrl(), async (client) => {
    const adopted = await adoptedRecord(client, flags, folder);
    const print = (text: string) => (flags.isJson ? process.stderr : process.stdout).write(`${text}\n`);
    const result = await runMigrations(
      client,
      { ...request, adopted },
      {
        onWait: () => print('another run has the lock; waiting for it'),
        onRetry: print,
        onNote: print,
        onApplied: ({ version, name }, milliseconds) =>
          print(`applied ${version} ${name} (${milliseconds.toFixed(0)} ms)`),
      },
    );
    if (flags.isJson) printJson(result.applied, result.version);
    else print(summary(result.applied.length, result.version));
    return 0;
  });
}

function requestOf(flags: MigrateFlags, folder: MigrationFolder): MigrationRequest {
  const markApplied = flags.texts('mark-applied').map((version) => {
    if (/^\d{1,18}$/.test(version)) return version.replace(/^0+(?=\d)/, '');
    throw new FlagProblem(`--mark-applied ${JSON.stringify(version)} is not a version: digits only`);
  });
  return {
    source: flags.source,
    folder,
    lockTimeoutMs: 1000 * (flags.number('lock-timeout') ?? DEFAULTS.lockTimeoutSeconds),
    lockRetries: flags.number('lock-retries') ?? DEFAULTS.lockRetries,
    waitMs: 1000 * (flags.number('wait') ?? DEFAULTS.waitSeconds),
    resumeFrom: flags.number('resume-from'),
    markApplied,
    allowsOutOfOrder: flags.has('allow-out-of-order'),
    allowsMissing: flags.has('allow-missing'),
  };
}

/** Returns the record to adopt. Raises MigrationRefusal when there is one that nobody mentioned: everything would run again. */
async function adoptedRecord(
  client: pg.Client,
  flags: MigrateFlags,
  { migrations }: MigrationFolder,
): Promise<ForeignRecord | undefined> {
  const { source } = flags;
  if (flags.has('adopt')) {
    const record = recordIn(await cliState(client, flags), source);
    if (Object.keys(record).length > 0) return record;
    const where = flags.engine() ? 'the engine' : 'the database';
    throw new MigrationRefusal([
      `--adopt: ${where} has no record of migrations of source ${source}; the record is in the engine that ran them: --engine URL`,
    ]);
  }
  if ((await readRecord(client, source)).length > 0) return undefined;
  const record = recordIn(await readForeignCliState(client), source);
  const recorded = migrations.filter(({ version }) => Object.hasOwn(record, version));
  if (recorded.length === 0) return undefined;
  throw new MigrationRefusal([
    `the schema hdb_catalog records that another tool has run ${recorded.length} of these migrations; take over its record with --adopt`,
  ]);
}

async function cliState(client: pg.Client, flags: MigrateFlags): Promise<unknown> {
  const address = flags.engine();
  if (!address) return readForeignCliState(client);
  return perform(address, operation('get_catalog_state', {}), readCliState);
}

function summary(count: number, version: string | null): string {
  const at = version === null ? '' : ` The newest version is ${version}.`;
  if (count === 0) return `Nothing to do.${at}`;
  return `${count} ${count === 1 ? 'migration' : 'migrations'} applied.${at}`;
}

function printJson(applied: readonly Migration[], version: string | null): void {
  const json = { applied: applied.map(({ version: each, name }) => ({ version: each, name })), version };
  process.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
}
