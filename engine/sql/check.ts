/** The check of a permission, on a written row. In: an insert or update, and the alias of its row. A failed check is an error
 *  of the statement itself, so Postgres undoes the statement, and no transaction has to stay open until the response has been
 *  read. Not here: the error message (database/pg-errors.ts). Spec: "Permission arguments". */
import type { Insert, Update } from '../plan/mutation-types.ts';
import { type Predicate, TRUE } from '../resolve/predicate.ts';
import { condition } from './bool-exp.ts';
import { type Fragment, literal, sql } from './fragment.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

/** Returns the condition that a row passes the check; null when there is no check. */
export function checkOf(
  action: Insert | Update,
  row: string,
  aliases: Aliases,
  isNew = sql`${columnOf(row, 'xmax')} = 0`,
): Fragment | null {
  // A check that is null (a comparison with null) fails.
  const holds = (check: Predicate) => sql`(${condition(check, rowScope(row, aliases))}) is true`;
  if (!hasCheck(action)) return null;
  const onConflict = conflictCheckOf(action);
  if (!onConflict) return holds(action.check);
  // `xmax` is 0 for a new row version that has not been updated or locked. Partitioned tables cannot always tell (0A000).
  return sql`case when ${isNew} then ${holds(action.check)} else ${holds(onConflict)} end`;
}

/** True when a row may fail the check. */
function hasCheck(action: Insert | Update): boolean {
  const onConflict = action.kind === 'insert' ? action.onConflict?.check : undefined;
  return action.check.kind !== 'true' || (onConflict ?? TRUE).kind !== 'true';
}

/** Returns the check of the rows that an upsert finds, when it differs from that of the rows that it inserts. */
export function conflictCheckOf(action: Insert | Update): Predicate | null {
  const onConflict = action.kind === 'insert' ? action.onConflict?.check : undefined;
  return onConflict && JSON.stringify(onConflict) !== JSON.stringify(action.check) ? onConflict : null;
}

/** The text in the error of a failed check. Postgres quotes it in messages of every language. */
export const CHECK_FAILED = 'the check of a permission has failed';

/** Returns a column that raises an error unless `passes` is true, or null because there was no row. SQL has no `raise`, but a
 *  cast can fail. The failing text starts with a value that is unknown while planning, because Postgres folds constants and
 *  would raise the error then. */
export function verdict(passes: Fragment): Fragment {
  return sql`case when ${passes} is not false then 0 else (current_user || ${literal(`: ${CHECK_FAILED}`)})::int end`;
}
