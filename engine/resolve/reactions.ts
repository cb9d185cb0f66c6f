/** Which writes need the session of their writer in the database: of the tables that have triggers or other code that may read it,
 *  and of the tables whose writes reach those. In: the catalog and the event triggers of a source. Out: a reaction by table. Not
 *  here: how the session gets there (sql/mutation.ts, execute/statements.ts). */
import type { Catalog, Reaction } from '../catalog/types.ts';
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { ResolvedEventTrigger } from './model/event-trigger.ts';

export type Reacting = Pick<Catalog, 'reactions' | 'tables'>;

/** Returns the reactions to writes, by table. A table without one is absent. */
export function reactionsOf(
  { reactions, tables }: Reacting,
  eventTriggers: Iterable<Pick<ResolvedEventTrigger, 'table'>>,
): ReadonlyMap<string, Reaction> {
  const found = new Map<string, Reaction>();
  const add = (table: string, reaction: Reaction) => {
    const known = found.get(table);
    if (known === reaction || known === 'during') return;
    found.set(table, reaction);
    for (const { writer, isPart } of reactions.writers.get(table) ?? []) {
      // The key of another table is followed after the statement, whatever the code of that table does.
      add(writer, isPart ? reaction : 'after');
    }
  };
  for (const [table, reaction] of reactions.own) add(table, reaction);
  for (const { table } of eventTriggers) add(qualifiedKey(table), 'after');
  if (found.size === 0) return found;
  // A view or foreign table writes tables that are not known.
  for (const [key, { kind }] of tables) {
    if (kind !== 'table' && kind !== 'partitioned table') found.set(key, 'during');
  }
  return found;
}

const NONE: ReadonlyMap<string, Reaction> = new Map();

/** Returns the reaction to a write of `table`; without a table to a statement that may write any. */
export function reactionTo(
  reactions: ReadonlyMap<string, Reaction> = NONE,
  table: QualifiedName | null,
): Reaction | null {
  if (table) return reactions.get(qualifiedKey(table)) ?? null;
  return reactions.size > 0 ? 'during' : null;
}
