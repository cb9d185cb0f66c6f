/** `run_sql`: runs any SQL on a source and lets the metadata follow. SQL that may change the schema runs between two introspections in
 *  one transaction. Renames are followed, and dropped tables and functions are removed from the document. If anything else no longer
 *  fits, the request is refused; with `cascade` it is removed as well. SQL that commits by itself is not refused afterwards: objects that
 *  no longer fit become inconsistent.
 *  Not here: comparing catalogs (catalog/changes.ts), following changes (change/follow-changes.ts), committing (state/unit-of-work.ts).
 *  Spec: "run_sql". */

import type pg from 'pg';
import type { QueryArrayResult } from 'pg';
import { catalogChanges } from '../catalog/changes.ts';
import { splitSteps } from '../catalog/split-statements.ts';
import type { Catalog } from '../catalog/types.ts';
import { printDependents } from '../change/dependents.ts';
import {
  followChanges,
  followKey,
  lostFields,
  refuseChanges,
  renamesOf,
  type SourceChange,
} from '../change/follow-changes.ts';
import { oneStatement } from '../database/one-statement.ts';
import { SHARDS_ONE_BY_ONE } from '../database/session-settings.ts';
import { EngineError, fail, type PathStep } from '../errors/engine-error.ts';
import { inSlices } from '../limits/slices.ts';
import { removeObject } from '../metadata/edit.ts';
import { normalMetadata } from '../metadata/normal-form.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Inconsistency } from '../resolve/model/inconsistency.ts';
import { refuseInconsistencies, removeInconsistent } from '../state/inconsistencies.ts';
import { endWhenSilent } from '../state/silent-database.ts';
import { withSqlErrors } from '../state/sql-failure.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';

export type RunSqlArgs = ArgsOf<'run_sql'>;

type RunSqlResult = {
  readonly result_type: 'CommandOk' | 'TuplesOk';
  /** The column names, then the rows. Every value is text; null is `NULL`. */
  readonly result: readonly (readonly string[])[] | null;
};

/** Words of statements that change what introspection sees. Words inside strings match too, which only costs an unnecessary
 *  introspection. Writes of rows do not match, not even those of an enum table, whose values count when it is introspected next. SQL
 *  that calls a function which changes the schema needs `check_metadata_consistency: true`. */
const SCHEMA_CHANGE =
  /\b(create|alter|drop|replace|comment\s+on|rename|import|execute)\b|\binto\b(?<!\b(?:insert|merge)\s+into)/i;

/** True when the SQL may change the schema. It must then not run beside other changes of the document. */
export function mayChangeSchema(args: RunSqlArgs): boolean {
  if (args.read_only) return false;
  return args.check_metadata_consistency === true || SCHEMA_CHANGE.test(args.sql);
}

/** Runs the SQL of the operation at `path` of the request.
 *  Raises `queryExecutionFailed`, `cannotDropDependents` and the errors of `refuseChanges`. */
export async function runSql(
  work: UnitOfWork,
  source: Source,
  args: RunSqlArgs,
  path: readonly PathStep[],
): Promise<RunSqlResult> {
  return withSqlErrors(args.sql, () => {
    if (args.read_only) return runReadOnly(work, source, args);
    if (args.no_transaction) return runOutsideTransaction(work, source, args);
    return runInTransaction(work, source, args, path);
  });
}

async function runInTransaction(
  work: UnitOfWork,
  source: Source,
  args: RunSqlArgs,
  path: readonly PathStep[],
): Promise<RunSqlResult> {
  const { client } = await work.transaction(source);
  // The text may end the transaction. What follows it then runs in another one.
  const catalog = work.catalogs.get(source.name);
  const isCluster = catalog !== undefined && 'hasCitus' in catalog;
  const run = async () => {
    const result = await (isCluster ? executeOnCluster(client, args.sql) : execute(client, args.sql));
    return { result, isCommitted: await work.renewTransaction(source) };
  };
  if (!mayChangeSchema(args)) return (await run()).result;
  if (args.check_metadata_consistency === false) {
    const { result } = await run();
    await acceptSchema(work, source);
    return result;
  }
  const before = await work.gateway.introspectInside(source, client);
  const { result, isCommitted } = await run();
  const ran: Ran = { args, path, before, after: await work.gateway.introspectInside(source, client) };
  work.touchesCatalog = true;
  const checkpoint = work.checkpoint();
  try {
    await follow(work, source, ran);
  } catch (error) {
    // A refusal would say that nothing changed.
    if (!isCommitted || !(error instanceof EngineError)) throw error;
    work.restore(checkpoint);
    await followWithoutRefusal(work, source, ran);
  }
  return result;
}

/** SQL that has run, with the catalogs before and after it. */
type Ran = BeforeAfter & { readonly args: RunSqlArgs; readonly path: readonly PathStep[] };

/** Lets the metadata follow the changes. Raises the errors of `runSql`. */
async function follow(work: UnitOfWork, source: Source, { args, path, ...catalogs }: Ran): Promise<void> {
  const change = await changeOf(work, source, catalogs);
  refuseChanges(change);
  const followed = withoutLostFields(followChanges(work.document, change), change, args.cascade === true);
  await completeCatalog(work, source, { followed, after: catalogs.after });
  work.edit(path, await dropUnfitting(work, followed, change, args.cascade === true));
}

/** Lets the metadata follow the changes. Objects that no longer fit become inconsistent. */
async function followWithoutRefusal(
  work: UnitOfWork,
  source: Source,
  { path, before, after }: Ran,
): Promise<void> {
  const followed = followChanges(work.document, await changeOf(work, source, { before, after }));
  await completeCatalog(work, source, { followed, after });
  work.edit(path, followed);
  work.tolerate(await work.addedInconsistencies());
}

/** Sets the catalog of the source, which may have another name in the document that follows the changes. */
async function completeCatalog(
  work: UnitOfWork,
  source: Source,
  { followed, after }: { readonly followed: Metadata; readonly after: Catalog },
): Promise<void> {
  const { client } = await work.transaction(source);
  const { sources } = normalMetadata(followed);
  const renamed = sources.find(({ name }) => name === source.name) ?? source;
  work.setCatalog(renamed, await work.gateway.complete(renamed, after, client));
}

function runReadOnly(work: UnitOfWork, source: Source, args: RunSqlArgs): Promise<RunSqlResult> {
  return work.database(source).transaction({ readOnly: true, isForeign: true }, async (client) => {
    // After a first query the transaction cannot become read-write any more, and a transaction that begins after a `commit` in the text is
    // read-only again.
    await client.query('set session characteristics as transaction read only; select 1');
    return execute(client, args.sql);
  });
}

/** Runs the statements one by one outside a transaction. Each is committed at once and remains if a later one fails. */
async function runOutsideTransaction(
  work: UnitOfWork,
  source: Source,
  args: RunSqlArgs,
): Promise<RunSqlResult> {
  await work.endTransaction(source);
  work.isRepeatable = false;
  const result = await work.database(source).session(async (client) => {
    const end = endWhenSilent(client, () => work.gateway.answers(source));
    try {
      return await executeEach(client, args.sql);
    } finally {
      end();
    }
  });
  if (mayChangeSchema(args)) await acceptSchema(work, source);
  return result;
}

/** Keeps whatever the SQL did to the schema. Objects that no longer fit become inconsistent. */
async function acceptSchema(work: UnitOfWork, source: Source): Promise<void> {
  work.touchesCatalog = true;
  await work.introspect(source);
  work.tolerate(await work.addedInconsistencies());
}

type BeforeAfter = { readonly before: Catalog; readonly after: Catalog };

/** A change of the database, with the inconsistencies before it. */
type ChangeInContext = SourceChange & { readonly inconsistencies: readonly Inconsistency[] };

/** Returns the changes that the SQL made, relative to the document before it. */
async function changeOf(
  work: UnitOfWork,
  source: Source,
  { before, after }: BeforeAfter,
): Promise<ChangeInContext> {
  work.setCatalog(source, before);
  const { model, inconsistencies } = await work.resolution();
  return { source: source.name, changes: catalogChanges(before, after), model, inconsistencies };
}

/** Returns the document without the computed fields that have lost their function. Raises `cannotDropDependents` unless they may be
 *  removed. */
function withoutLostFields(followed: Metadata, change: SourceChange, cascade: boolean): Metadata {
  const keys = lostFields(change).map((key) => followKey(key, renamesOf(change)));
  if (keys.length > 0 && !cascade) fail('cannotDropDependents', { dependents: printDependents(keys) });
  return keys.reduce(removeObject, followed);
}

/** Returns the document without the objects that no longer fit the database. Raises unless they may be removed. */
async function dropUnfitting(
  work: UnitOfWork,
  followed: Metadata,
  change: ChangeInContext,
  cascade: boolean,
): Promise<Metadata> {
  const { changes, inconsistencies } = change;
  const renames = renamesOf(change);
  const known = new Set(inconsistencies.map(({ key }) => followKey(key, renames)));
  const isNew = ({ key, entity }: Inconsistency) => !entity && !known.has(key);
  let next = followed;
  for (;;) {
    const { inconsistencies: all } = await work.gateway.resolve(next, work.catalogs, work.upstreams);
    const added = all.filter(isNew);
    if (added.length === 0) return next;
    if (!changes.hasDrops) refuseInconsistencies(added);
    if (!cascade) fail('cannotDropDependents', { dependents: printDependents(added.map(({ key }) => key)) });
    const without = removeInconsistent(next, added);
    if (without === next) refuseInconsistencies(added);
    next = without;
  }
}

/** Runs SQL in a transaction on a Citus cluster, which sends the whole text to its workers with each statement that changes a table, and refuses
 *  some statements after one that has changed several shards at the same time. */
async function executeOnCluster(client: pg.ClientBase, sql: string): Promise<RunSqlResult> {
  await client.query(SHARDS_ONE_BY_ONE.text);
  return executeEach(client, sql);
}

/** Runs the statements one by one, and returns the result of the last one. */
async function executeEach(client: pg.ClientBase, sql: string): Promise<RunSqlResult> {
  let last: RunSqlResult = { result_type: 'CommandOk', result: null };
  const statements = await inSlices(splitSteps(sql));
  for (const statement of statements) last = await execute(client, oneStatement(statement));
  return last;
}

/** Runs SQL text of any number of statements, or a query of one, and returns the result of the last one. */
async function execute(client: pg.ClientBase, sql: string | pg.QueryConfig): Promise<RunSqlResult> {
  const query = typeof sql === 'string' ? { text: sql } : sql;
  const results: unknown = await client.query({ ...query, rowMode: 'array', types: AS_TEXT });
  return printResult(Array.isArray(results) ? results.at(-1) : results);
}

/** Keeps values in the text form of the database. */
const AS_TEXT = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

function printResult(result: QueryArrayResult | undefined): RunSqlResult {
  const isTable = result && (result.fields.length > 0 || result.command === 'SELECT');
  if (!isTable) return { result_type: 'CommandOk', result: null };
  const names = result.fields.map((field) => field.name);
  const rows = result.rows.map((row) => row.map((value) => (value === null ? 'NULL' : String(value))));
  return { result_type: 'TuplesOk', result: [names, ...rows] };
}
