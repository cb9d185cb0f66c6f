/** `insert`: rows for a tracked table, by column name. It runs in the request's transaction on the source, so that a bulk
 *  that tracks a table and fills it is all or nothing. Not here: the statement (execute/insert-objects.ts). */
import { fail } from '../errors/engine-error.ts';
import { insertObjects } from '../execute/insert-objects.ts';
import { SESSION_SETTINGS, sessionSettings } from '../execute/session-settings.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Answer } from './answer.ts';
import type { AdminRequest } from './request.ts';
import type { Work } from './work.ts';

/** Raises `sourceNotFound`, `tableNotTracked`, `columnNotExists` and what Postgres refuses. */
export async function insertRows(
  work: Work,
  args: ArgsOf<'insert'>,
  { caller: { session } }: AdminRequest,
): Promise<Answer> {
  const source = work.source(args.source) ?? fail('sourceNotFound', { source: args.source });
  await work.settle();
  const table =
    work.view().model.sources.get(source.name)?.tables.get(qualifiedKey(args.table)) ??
    fail('tableNotTracked', { table: printQualified(args.table) });
  const { client } = await work.transaction(source);
  await client.query(SESSION_SETTINGS.text, sessionSettings(session));
  const { on_conflict: conflict } = args;
  const result = await insertObjects(
    client,
    table,
    {
      objects: args.objects as readonly Record<string, unknown>[],
      returning: args.returning ?? [],
      onConflict: conflict ? { constraint: conflict.constraint, action: conflict.action } : null,
    },
    session,
  );
  return () => result;
}
