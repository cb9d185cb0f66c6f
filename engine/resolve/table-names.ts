/** The names of all tables, taken at once: as long as no two tables want the same one, it does not matter which came first, and
 *  whoever took them before has to look only at the tables that are others now. A hundred thousand names are most of what
 *  resolving a thousand tables would take. In: tables of all sources. Out: their names as TakenNames, to be added to.
 *  Not here: which of two gives way (stages.ts), the names themselves (names.ts). */
import { TakenNames } from './conflicts.ts';
import type { ResolvedTable, ResolveOptions } from './types.ts';

type Taken = { readonly tables: ReadonlySet<ResolvedTable>; readonly names: TakenNames };

const takenBefore = new WeakMap<ResolveOptions, Taken>();

/** Undefined where two tables want the same name, or one wants one twice. */
export function takeTableNames(
  tables: readonly ResolvedTable[],
  options: ResolveOptions,
): TakenNames | undefined {
  const before = takenBefore.get(options) ?? NONE(options);
  const wanted = new Set(tables);
  const gone = [...before.tables].filter((table) => !wanted.has(table));
  const come = tables.filter((table) => !before.tables.has(table));
  if (gone.length + come.length === 0) return before.names.copy();
  const names = before.names.copy();
  for (const table of gone) names.removeTable(table);
  for (const table of come) if (names.addTable(table)) return undefined;
  const taken = { tables: wanted, names: names.copy() };
  takenBefore.set(options, taken);
  return taken.names.copy();
}

const NONE = ({ features }: ResolveOptions): Taken => ({
  tables: new Set(),
  names: new TakenNames(new Set(features)),
});
