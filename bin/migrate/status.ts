/** `pergola migrate status` and `verify`: read the folder and the record, and change nothing.
 *  Exit codes of `status`: 0 all is applied, 2 migrations are pending, 1 a version needs a decision or a file is wrong. Of `verify`: 0 what
 *  ran is what the files say, 1 it is not. Not here: the states (engine/migrate/assess.ts). */
import type pg from 'pg';
import { type AssessedVersion, refusals } from '../../engine/migrate/assess.ts';
import { currentVersions } from '../../engine/migrate/current-versions.ts';
import { type MigrationFolder, readMigrations } from '../../engine/migrate/read-migrations.ts';
import { invalidIndexes } from '../../engine/migrate/run-migrations.ts';
import { withMigrationSession } from '../../engine/migrate/session.ts';
import type { MigrateFlags } from './flags.ts';

type Reading = {
  readonly folder: MigrationFolder;
  readonly versions: readonly AssessedVersion[];
  /** Reasons for which `up` would run nothing. */
  readonly problems: readonly string[];
  /** Notes about runs at work, and about indexes that Postgres does not use. */
  readonly notes: readonly string[];
};

export async function status(flags: MigrateFlags): Promise<number> {
  const reading = await read(flags, flags.has('allow-missing'));
  if (flags.isJson) printJson(reading);
  else {
    process.stdout.write(table(reading.versions));
    printProblems(reading);
    process.stdout.write(`${summary(reading.versions)}\n`);
  }
  if (reading.problems.length > 0) return 1;
  return reading.versions.some(isPending) ? 2 : 0;
}

export async function verify(flags: MigrateFlags): Promise<number> {
  const reading = await read(flags, flags.has('allow-missing'));
  if (flags.isJson) printJson(reading);
  else {
    printProblems(reading);
    if (reading.problems.length === 0) process.stdout.write(`${summary(reading.versions)}\n`);
  }
  return reading.problems.length === 0 ? 0 : 1;
}

async function read(flags: MigrateFlags, allowsMissing: boolean): Promise<Reading> {
  const folder = readMigrations(flags.folder, flags.source);
  return withMigrationSession(flags.databaseUrl(), async (client) => {
    const { versions } = await currentVersions(client, flags.source, folder.migrations);
    const ofContent = versions
      .filter(isPending)
      .flatMap(({ version }) => folder.contentProblems.get(version) ?? []);
    const refused = refusals(versions, { allowsOutOfOrder: false, allowsMissing });
    return {
      folder,
      versions,
      problems: [...folder.problems, ...refused, ...ofContent],
      notes: [...runningNotes(versions), ...(await notesOn(client, versions))],
    };
  });
}

function runningNotes(versions: readonly AssessedVersion[]): readonly string[] {
  return versions.flatMap(({ version, name, state, reason }) =>
    state === 'running' ? [`${version} ${name}: ${reason}; wait for it`] : [],
  );
}

async function notesOn(client: pg.Client, versions: readonly AssessedVersion[]): Promise<readonly string[]> {
  if (!versions.some(({ state }) => state === 'failed' || state === 'unknown')) return [];
  const indexes = await invalidIndexes(client);
  return indexes.map(
    ({ quoted }) => `index ${quoted} is invalid: drop it with drop index concurrently ${quoted}`,
  );
}

function isPending({ state }: AssessedVersion): boolean {
  return ['pending', 'out-of-order', 'running', 'interrupted'].includes(state);
}

const COLUMNS = { version: 16, state: 13 };

function table(versions: readonly AssessedVersion[]): string {
  if (versions.length === 0) return '';
  const lines = versions.map(
    ({ version, state, name, row }) =>
      `${version.padEnd(COLUMNS.version)} ${state.padEnd(COLUMNS.state)} ${name}${remark(row)}`,
  );
  return `${'VERSION'.padEnd(COLUMNS.version)} ${'STATE'.padEnd(COLUMNS.state)} NAME\n${lines.join('\n')}\n`;
}

function remark(row: AssessedVersion['row']): string {
  if (row?.state !== 'applied' || row.origin === 'run') return '';
  return row.origin === 'marked' ? ' (recorded, not run)' : ' (adopted)';
}

function summary(versions: readonly AssessedVersion[]): string {
  const applied = versions.filter(({ row }) => row?.state === 'applied');
  const pending = versions.filter(isPending).length;
  const newest = applied.at(-1)?.version;
  const unfinished = versions.filter(({ state }) => state === 'failed' || state === 'unknown').length;
  const parts = [
    `${applied.length} applied${newest === undefined ? '' : `, the newest is ${newest}`}`,
    `${pending} pending`,
    ...(unfinished > 0 ? [`${unfinished} unfinished`] : []),
  ];
  return `${parts.join('; ')}.`;
}

function printProblems({ problems, notes }: Reading): void {
  for (const text of [...problems, ...notes]) process.stderr.write(`${text}\n`);
}

function printJson({ folder, versions, problems, notes }: Reading): void {
  const json = {
    folder: folder.path,
    versions: versions.map(({ version, name, state, reason, row }) => ({
      version,
      name,
      state,
      reason,
      origin: row?.origin ?? null,
      statements: row?.statements ?? null,
      started: row?.started ?? null,
      finished: row?.finished ?? null,
      startedAt: row?.startedAt ?? null,
      finishedAt: row?.finishedAt ?? null,
    })),
    problems,
    notes,
  };
  process.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
}
