/** Writes of a role that reach only rows it may read (--strict-writes). Without it, a role whose filter for updates or deletions
 *  is wider than its filter for reading learns about hidden rows from `affected_rows`: it asks whether a row with some value is
 *  written. Postgres itself does the same for row-level security: the policies for SELECT hold for the WHERE of UPDATE and DELETE.
 *  In: tables with the permissions of all roles, inherited ones too. Out: the same, filters of writes narrowed. Pure.
 *  A role without a permission to read cannot name a column in a condition, and keeps its filter.
 *  Not here: which columns a condition may name (schema/bool-exp.ts, bool-exp.ts). */
import { mapValues } from './map-values.ts';
import { and } from './predicate.ts';
import type { ResolvedTable, ResolveOptions, TableAccess } from './types.ts';

export function withStrictWrites<S extends { readonly tables: ReadonlyMap<string, ResolvedTable> }>(
  source: S,
  { strictWrites = false }: Pick<ResolveOptions, 'strictWrites'>,
): S {
  if (!strictWrites) return source;
  return { ...source, tables: mapValues(source.tables, strictTable) };
}

/** Tables stay the same objects as long as nothing about them changes. */
const previous = new WeakMap<ResolvedTable, ResolvedTable>();

function strictTable(table: ResolvedTable): ResolvedTable {
  const cached = previous.get(table) ?? { ...table, permissions: mapValues(table.permissions, strictAccess) };
  previous.set(table, cached);
  return cached;
}

function strictAccess(access: TableAccess): TableAccess {
  const { select, update, delete: remove } = access;
  if (!select) return access;
  const narrowed = <A extends NonNullable<TableAccess['update' | 'delete']>>(write: A): A => ({
    ...write,
    filter: and(write.filter, select.filter),
  });
  return { ...access, update: update && narrowed(update), delete: remove && narrowed(remove) };
}
