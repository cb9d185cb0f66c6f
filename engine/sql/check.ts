/** The check of a permission, on the row just written. In: an insert or update, and the alias its row has.
 *  A failed check is an error of the statement itself, which Postgres undoes then: no transaction has to be kept open to
 *  look at the answer first. Not here: what clients are told (database/pg-errors.ts). Spec: "Permission arguments". */
import type { Insert, Update } from '../plan/mutation-types.ts';
import { type Predicate, TRUE } from '../resolve/predicate.ts';
import { condition } from './bool-exp.ts';
import { type Fragment, literal, sql } from './fragment.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

/** Whether the row passes; null when there is nothing to test. */
export function checkOf(action: Insert | Update, row: string, aliases: Aliases): Fragment | null {
  // A check that is null (a comparison with null) has not been passed.
  const holds = (check: Predicate) => sql`(${condition(check, rowScope(row, aliases))}) is true`;
  const onConflict = (action.kind === 'insert' && action.onConflict?.check) || undefined;
  if (action.check.kind === 'true' && (onConflict ?? TRUE).kind === 'true') return null;
  if (!onConflict || JSON.stringify(onConflict) === JSON.stringify(action.check)) return holds(action.check);
  // A row version nobody has updated or locked yet is a new one. Partitioned tables cannot always tell (0A000).
  return sql`case when ${columnOf(row, 'xmax')} = 0 then ${holds(action.check)} else ${holds(onConflict)} end`;
}

/** What Postgres says of a failed check, in whatever language it speaks: it quotes this. */
export const CHECK_FAILED = 'the check of a permission has failed';

/** A column of no interest, or an error unless `passes` (null: there was no row to test). SQL has no `raise`, but a cast can
 *  fail; a value that is known while planning would fail then already, so it begins with one that is not. */
export function verdict(passes: Fragment): Fragment {
  return sql`case when ${passes} is not false then 0 else (current_user || ${literal(`: ${CHECK_FAILED}`)})::int end`;
}
