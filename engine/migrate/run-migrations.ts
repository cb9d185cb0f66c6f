/** Applies the migrations of a folder to a database, in order, one run at a time. In: migrations, an open connection, what the caller
 *  allows. Out: what ran, or a MigrationRefusal before anything runs, or the failure of a statement.
 *  Not here: connecting (session.ts), the states of versions (assess.ts), one file (run-file.ts). */
import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import { adopt, type ForeignRecord } from './adopt.ts';
import { type AssessedVersion, assess, type Permissions, refusals } from './assess.ts';
import { hasLock, MigrationLockError, takeLock } from './lock.ts';
import { type Migration, StatementsChecksum } from './migration.ts';
import { sqlStateOf } from './migration-failure.ts';
import type { MigrationFolder } from './read-migrations.ts';
import { createRecord, markRow, type RecordedRun, readRecord } from './record.ts';
import { type Continuation, type FileRun, runFile } from './run-file.ts';

/** Raised before anything runs. */
export class MigrationRefusal extends Error {
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join('\n'));
    this.reasons = reasons;
  }
}

/** Raised before anything runs, when the record and the files of the folder differ. */
export class MigrationRecordRefusal extends MigrationRefusal {}

export type MigrationRequest = Permissions & {
  readonly source: string;
  readonly folder: MigrationFolder;
  readonly lockTimeoutMs: number;
  readonly lockRetries: number;
  /** How long to wait for another run. */
  readonly waitMs: number;
  /** The number of the statement that an unfinished version continues with, from 1. */
  readonly resumeFrom?: number | undefined;
  /** Versions to record as applied without running them. */
  readonly markApplied?: readonly string[] | undefined;
  /** The record of another tool, whose versions count as applied. */
  readonly adopted?: ForeignRecord | undefined;
  /** Called before the transaction of a file commits. An error rolls it back. */
  readonly check?: FileRun['check'];
};

/** Receives the progress of a run. */
export type MigrationProgress = {
  readonly onWait: () => void;
  readonly onRetry: (message: string) => void;
  readonly onNote: (message: string) => void;
  readonly onApplied: (migration: Migration, milliseconds: number) => void;
};

export type MigrationResult = {
  readonly applied: readonly Migration[];
  /** The newest version that is applied; null when none is. */
  readonly version: string | null;
};

/** Applies what has not run. Raises MigrationRefusal, MigrationFailure, RecordConflict, MigrationLockError. */
export async function runMigrations(
  client: ClientBase,
  request: MigrationRequest,
  progress: MigrationProgress,
): Promise<MigrationResult> {
  if (request.folder.problems.length > 0) throw new MigrationRefusal(request.folder.problems);
  await takeLock(client, { waitMs: request.waitMs, onWait: progress.onWait });
  const run: RecordedRun = { client, source: request.source, run: randomUUID() };
  const rows = await permitted(async () => {
    await createRecord(client);
    await recordGiven(run, request, progress);
    return readRecord(client, request.source);
  });
  const versions = assess(request.folder.migrations, rows);
  const resumed = resumedVersion(versions, request.resumeFrom);
  const rest = versions.filter((version) => version !== resumed);
  const ofContent = problemsOfContent(versions, request.folder);
  const ofRecord = refusals(rest, request);
  if (ofContent.length > 0) throw new MigrationRefusal([...ofRecord, ...ofContent]);
  if (ofRecord.length > 0) throw new MigrationRecordRefusal(ofRecord);
  const applied: Migration[] = [];
  for (const version of versions.filter(isToRun)) {
    const from = continuationOf(version, request.resumeFrom);
    if (from) await refuseInvalidIndexes(client, version.migration!, from);
    await runVersion(run, version.migration!, { request, progress, from });
    applied.push(version.migration!);
  }
  const ran = await readRecord(client, request.source);
  return { applied, version: ran.filter(({ state }) => state === 'applied').at(-1)?.version ?? null };
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** Runs what creates, reads and writes the record. Raises MigrationRefusal when the user of the database may not. */
async function permitted<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new MigrationRefusal([
      `the record of migrations needs privileges that the user of the database lacks: ${(error as Error).message}; ` +
        'grant create on the database, or usage on schema pergola_migrations and select, insert, update on its table',
    ]);
  }
}

/** True when a run would run statements of the version. */
export function isToRun({ state, migration }: AssessedVersion): boolean {
  return migration !== null && !['applied', 'changed', 'missing'].includes(state);
}

async function runVersion(
  run: RecordedRun,
  migration: Migration,
  {
    request,
    progress,
    from,
  }: { request: MigrationRequest; progress: MigrationProgress; from: Continuation | undefined },
): Promise<void> {
  if (!(await hasLock(run.client))) {
    throw new MigrationLockError(
      'the session has lost its lock, as behind a pooler in transaction mode; connect to the database itself',
    );
  }
  if (from && from.finished > 0) {
    const next = `statement ${from.finished + 1} of ${migration.statements.length}`;
    progress.onNote(`${migration.version} ${migration.name} continues at ${next}`);
  }
  const startedAt = performance.now();
  const { lockTimeoutMs, lockRetries, check } = request;
  await runFile({ ...run, lockTimeoutMs, lockRetries, onRetry: progress.onRetry, check }, migration, from);
  progress.onApplied(migration, performance.now() - startedAt);
}

/** Writes what the caller knows to the record: the record of another tool, versions that count as applied. */
async function recordGiven(
  run: RecordedRun,
  { folder, adopted, markApplied = [] }: MigrationRequest,
  { onNote }: MigrationProgress,
): Promise<void> {
  const files = new Map(folder.migrations.map((migration) => [migration.version, migration]));
  const absent = markApplied.filter((version) => !files.has(version));
  if (absent.length > 0) {
    throw new MigrationRefusal(
      absent.map((version) => `--mark-applied ${version}: ${folder.path} has no such version`),
    );
  }
  if (adopted) for (const note of await adopt(run, files, adopted)) onNote(note);
  for (const version of markApplied) {
    const { name, sha256, statements } = files.get(version)!;
    await markRow(run, { version, name, sha256, statements: statements.length });
    onNote(`${version} ${name} is recorded as applied, and was not run`);
  }
}

/** Returns the version that `--resume-from` is about. Raises MigrationRefusal if there is none, or the statement is not possible. */
function resumedVersion(
  versions: readonly AssessedVersion[],
  resumeFrom: number | undefined,
): AssessedVersion | undefined {
  if (resumeFrom === undefined) return undefined;
  const found = versions.find(({ state }) => ['interrupted', 'failed', 'unknown'].includes(state));
  if (!found) throw new MigrationRefusal(['--resume-from: no version is unfinished; run without it']);
  const { migration, row, version, name } = found;
  if (!migration) throw new MigrationRefusal([`${version} ${name}: its file is gone; restore it`]);
  const { started, finished } = row!;
  const most = Math.min((started ?? 0) + 1, migration.statements.length + 1);
  if (resumeFrom < finished + 1 || resumeFrom > most) {
    const range = finished + 1 === most ? `${most}` : `${finished + 1} or ${most}`;
    throw new MigrationRefusal([
      `--resume-from ${resumeFrom}: ${version} ${name} can continue with ${range}`,
    ]);
  }
  if (
    row!.finishedSha256 !== null &&
    new StatementsChecksum(migration).ofFirst(finished) !== row!.finishedSha256
  ) {
    throw new MigrationRefusal([
      `${version} ${name}: what has run, up to statement ${finished}, was edited since; restore it`,
    ]);
  }
  return found;
}

function continuationOf({ row }: AssessedVersion, resumeFrom: number | undefined): Continuation | undefined {
  if (!row) return undefined;
  return { row, finished: resumeFrom === undefined ? row.finished : resumeFrom - 1 };
}

/** Returns why a run would refuse a folder. */
export function problemsOf(
  folder: MigrationFolder,
  versions: readonly AssessedVersion[],
  permissions: Permissions,
): readonly string[] {
  return [...folder.problems, ...refusals(versions, permissions), ...problemsOfContent(versions, folder)];
}

/** Returns the problems of the files that would run. */
function problemsOfContent(
  versions: readonly AssessedVersion[],
  { contentProblems }: MigrationFolder,
): readonly string[] {
  return versions.filter(isToRun).flatMap(({ version }) => contentProblems.get(version) ?? []);
}

/** An index that `create index concurrently` did not complete is invalid, and `if not exists` would keep it. */
async function refuseInvalidIndexes(
  client: ClientBase,
  { statements, version, name }: Migration,
  { finished }: Continuation,
): Promise<void> {
  const invalid = await invalidIndexes(client);
  const named = new Set<string>();
  for (let i = finished; i < statements.length && invalid.length > named.size; i++) {
    const statement = statements.at(i);
    for (const index of invalid) if (statement.includes(index.name)) named.add(index.quoted);
  }
  const reasons = invalid
    .filter(({ quoted }) => named.has(quoted))
    .map(
      ({ quoted }) =>
        `${version} ${name}: index ${quoted} is invalid; drop it first: drop index concurrently ${quoted}`,
    );
  if (reasons.length > 0) throw new MigrationRefusal(reasons);
}

/** Returns the indexes that Postgres does not use because creating them did not end, or has not ended. */
export async function invalidIndexes(
  client: ClientBase,
): Promise<readonly { readonly name: string; readonly quoted: string }[]> {
  const { rows } = await client.query(
    `select c.relname as name, format('%I.%I', n.nspname, c.relname) as quoted
       from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
      where not i.indisvalid and c.relkind = 'i' and n.nspname !~ '^pg_' order by 2`,
  );
  return rows;
}
