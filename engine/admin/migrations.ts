/** `apply_migrations`: runs migrations on the database of a source, with the record, the lock and the rules of `pergola migrate up`.
 *  A file in a transaction is refused if objects that are served would not fit the database after it. `put` and `remove` are changes of the
 *  metadata that the client will make next: they count as made.
 *  Not here: runs and their answers (state/migration-runs.ts), migrations (migrate/). Reference: docs/guides/migrations.md. */
import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import { editsIn } from '../change/patch.ts';
import { listText } from '../errors/list-text.ts';
import { inSlices } from '../limits/slices.ts';
import { editObjects } from '../metadata/edit.ts';
import { findObject } from '../metadata/objects.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Steps } from '../metadata/steps.ts';
import { currentVersions } from '../migrate/current-versions.ts';
import type { Migration } from '../migrate/migration.ts';
import { type MigrationFolder, migrationsSteps } from '../migrate/read-migrations.ts';
import { isToRun, MigrationRefusal, problemsOf, runMigrations } from '../migrate/run-migrations.ts';
import { withMigrationClient } from '../migrate/session.ts';
import type { Inconsistency } from '../resolve/model/inconsistency.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import type { Performer } from './request.ts';

type Args = ArgsOf<'apply_migrations'>;

const LOCK_TIMEOUT_SECONDS = 5;
const LOCK_RETRIES = 10;
/** The most objects that a refusal names. */
const MOST_NAMED = 5;
const SILENT = { onWait: () => {}, onRetry: () => {}, onNote: () => {}, onApplied: () => {} };

export const applyMigrations: Performer<'apply_migrations'> = async (work, args) => {
  const source = work.requireSource(args.source);
  if (args.dry_run) {
    const planned = await plannedIn(work, source, args);
    return () => planned;
  }
  const draft = editObjects(work.document, editsIn(args));
  const digest = await inSlices(digestSteps(source, args));
  const answer = await work.gateway.migrationRuns.run(source.name, digest, async () => {
    const result = await apply(work, source, args, draft);
    if (result.applied.length > 0) await work.gateway.refreshCatalog(source);
    return result;
  });
  return () => answer;
};

/** The answer to a dry run. */
type PlannedMigrations = {
  readonly state: 'applied' | 'pending' | 'refused';
  /** The names of files that would run, in order. */
  readonly pending: readonly string[];
  readonly applied: readonly [];
  readonly version: string | null;
  readonly message: string | null;
};

/** Compares the files with the record. Takes no lock, and runs nothing. */
async function plannedIn(work: UnitOfWork, source: Source, args: Args): Promise<PlannedMigrations> {
  const folder = await folderOf(args);
  const { rows, versions } = await work
    .database(source)
    .session((client) => currentVersions(client, source.name, folder.migrations));
  const reasons = problemsOf(folder, versions, permissionsOf(args));
  const pending = versions.filter(isToRun).map(({ migration }) => migration!.file);
  const state = reasons.length > 0 ? 'refused' : pending.length > 0 ? 'pending' : 'applied';
  const version = rows.filter((row) => row.state === 'applied').at(-1)?.version ?? null;
  return { state, pending, applied: [], version, message: reasons.length > 0 ? reasons.join('\n') : null };
}

function folderOf({ migrations }: Args): Promise<MigrationFolder> {
  return inSlices(migrationsSteps(migrations.map(({ name, sql }) => ({ name, text: sql }))));
}

/** Returns the digest of a request. Each file is a step. */
function* digestSteps(source: Source, { migrations, ...others }: Args): Steps<string> {
  const hash = createHash('sha256').update(JSON.stringify([source, others]));
  for (const { name, sql } of migrations) {
    hash.update(JSON.stringify([name, sql.length])).update(sql);
    yield;
  }
  return hash.digest('hex');
}

/** Files of applied versions may be missing: a resource may be deleted, or may not have arrived yet. */
function permissionsOf(args: Args) {
  return { allowsOutOfOrder: args.allow_out_of_order ?? false, allowsMissing: true };
}

async function apply(work: UnitOfWork, source: Source, args: Args, draft: Metadata) {
  const { sources } = work.gateway;
  const folder = await folderOf(args);
  const request = {
    source: source.name,
    folder,
    lockTimeoutMs: 1000 * (args.lock_timeout ?? LOCK_TIMEOUT_SECONDS),
    lockRetries: LOCK_RETRIES,
    waitMs: 0,
    ...permissionsOf(args),
    ...(args.allow_breaking ? {} : { check: checkOf(work, source, draft) }),
  };
  const { applied, version } = await withMigrationClient(
    sources.address(source),
    sources.tls(source),
    (client) => runMigrations(client, request, SILENT),
  );
  return { applied: applied.map((migration) => migration.version), version };
}

/** Returns the check of a migration that has run and is not committed. Raises MigrationRefusal. */
function checkOf(work: UnitOfWork, source: Source, draft: Metadata) {
  const { gateway, base } = work;
  const served = new Set(base.inconsistencies.map(({ key }) => key));
  const isBroken = ({ key, entity }: Inconsistency) =>
    !entity && !served.has(key) && findObject(base.document, key) !== undefined;
  return async (client: ClientBase, { version, name }: Migration) => {
    const catalog = await gateway.introspectInside(source, client);
    const catalogs = new Map(work.base.catalogs).set(source.name, catalog);
    const { inconsistencies } = await gateway.resolve(draft, catalogs, work.base.upstreams);
    const broken = inconsistencies.filter(isBroken);
    if (broken.length === 0) return;
    const named = broken.map((object) => `${object.name}: ${object.reason}`);
    throw new MigrationRefusal([
      `${version} ${name} would break ${broken.length === 1 ? 'an object' : `${broken.length} objects`} that the API serves; change ` +
        'the resources together with it, or remove what uses the old form first: ' +
        listText(named, { most: MOST_NAMED, separator: '; ' }),
    ]);
  };
}
