/** `insert`: rows for a tracked table, by column name. It runs in the request's transaction on the source, so that a bulk
 *  that tracks a table and fills it is all or nothing. Not here: the statement (execute/insert-objects.ts). */
import { fail } from '../errors/engine-error.ts';
import { insertObjects } from '../execute/insert-objects.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { Answer } from './answer.ts';
import type { Work } from './work.ts';

const ADMIN = { role: ADMIN_ROLE, variables: {}, mayUseBackendOnly: true };

/** Raises `sourceNotFound`, `tableNotTracked`, `columnNotExists` and what Postgres refuses. */
export async function insertRows(work: Work, args: ArgsOf<'insert'>): Promise<Answer> {
  const source = work.source(args.source) ?? fail('sourceNotFound', { source: args.source });
  await work.settle();
  const table =
    work.view().model.sources.get(source.name)?.tables.get(qualifiedKey(args.table)) ??
    fail('tableNotTracked', { table: printQualified(args.table) });
  const { client } = await work.transaction(source);
  const { on_conflict: conflict } = args;
  const result = await insertObjects(
    client,
    table,
    {
      objects: args.objects as readonly Record<string, unknown>[],
      returning: args.returning ?? [],
      onConflict: conflict ? { constraint: conflict.constraint, action: conflict.action } : null,
    },
    ADMIN,
  );
  return () => result;
}
