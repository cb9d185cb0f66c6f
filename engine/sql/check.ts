/** The check of a permission, on the row just written. In: an insert or update, and the alias its row has.
 *  Not here: acting on it (execute/run-plan.ts). Spec: "Permission arguments". */
import type { Insert, Update } from '../plan/types.ts';
import { type Predicate, TRUE } from '../resolve/predicate.ts';
import { condition } from './bool-exp.ts';
import { type Fragment, sql } from './fragment.ts';
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
