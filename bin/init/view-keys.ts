/** The keys of views: a view that returns the columns of a table's foreign key refers to the same rows as the table, and one that returns the
 *  primary key of a table refers to the rows of that table. In: the tracked tables and views, and the origins of the views' columns. Out:
 *  keys in the form of foreign keys. Pure. Not here: the origins (view-origins.ts), relationships (relationship-names.ts). */
import type { CatalogForeignKey, CatalogTable } from '../../engine/catalog/types.ts';
import { qualifiedKey } from '../../engine/metadata/schema/common.ts';
import type { Origin, Origins } from './view-origins.ts';

export type ViewKey = Omit<CatalogForeignKey, 'name'> & {
  /** True when it leads to the row that the view's row is made from. */
  readonly isOwnRow: boolean;
};

/** The tracked tables and views, by qualifiedKey. */
type Tables = ReadonlyMap<string, CatalogTable>;
/** The columns of a view that return a column of a table, by the name of that column. */
type Returned = ReadonlyMap<string, readonly string[]>;

/** Returns the keys of each view, by qualifiedKey. */
export function viewKeys(tables: Tables, origins: Origins): ReadonlyMap<string, readonly ViewKey[]> {
  const views = [...tables.values()].filter(({ kind }) => kind.endsWith('view'));
  const standIns = Map.groupBy(
    views.flatMap((view) => standIn(view, origins)),
    ({ key }) => key,
  );
  return new Map(
    views.map((view) => {
      const sources = sourcesOf(view, origins);
      const keys = [...sources.values()].flatMap(({ table, returned }) => keysFrom(table, returned));
      return [qualifiedKey(view), keys.flatMap((key) => trackedTarget(key, view, tables, standIns))] as const;
    }),
  );
}

/** Returns the tables that a view returns columns of. */
function sourcesOf(view: CatalogTable, origins: Origins) {
  const own = [...(origins.get(qualifiedKey(view)) ?? [])];
  const byTable = Map.groupBy(own, ([, { table }]) => qualifiedKey(table));
  return new Map(
    [...byTable].map(([key, columns]) => [
      key,
      { table: columns[0]![1].table, returned: returnedOf(columns) },
    ]),
  );
}

function returnedOf(columns: readonly (readonly [string, Origin])[]): Returned {
  const groups = Map.groupBy(columns, ([, { column }]) => column);
  return new Map([...groups].map(([column, same]) => [column, same.map(([name]) => name)]));
}

/** Returns the foreign keys and the primary key of a table whose columns the view returns. The primary key of a table that consists of
 *  foreign keys is left out: its rows say nothing that the rows they refer to do not. */
function keysFrom(table: CatalogTable, returned: Returned): readonly ViewKey[] {
  const { schema, name, primaryKey, foreignKeys } = table;
  const inKeys = new Set(foreignKeys.flatMap(({ columns }) => columns));
  const isLink = table.columns.every((column) => inKeys.has(column.name));
  const toItself = { table: { schema, name }, isOwnRow: true };
  const all = [
    ...foreignKeys.map((key) => ({ ...key, isOwnRow: false })),
    ...(primaryKey && !isLink
      ? [{ ...toItself, columns: primaryKey.columns, foreignColumns: primaryKey.columns }]
      : []),
  ];
  return all.flatMap(({ columns, table: to, foreignColumns, isOwnRow }) =>
    namesIn(columns, returned).map((names) => ({ columns: names, table: to, foreignColumns, isOwnRow })),
  );
}

/** Returns the columns of the view for the columns of a key: one list for each column that returns the only column of the key; nothing when
 *  a key of several columns has more than one choice, because columns of different rows might be combined. */
function namesIn(columns: readonly string[], returned: Returned): readonly (readonly string[])[] {
  const choices = columns.map((column) => returned.get(column) ?? []);
  if (choices.length === 1) return choices[0]!.map((name) => [name]);
  return choices.every((names) => names.length === 1) ? [choices.map(([name]) => name!)] : [];
}

/** A view that has one row for a row of a table, or none. */
type StandIn = { readonly key: string; readonly view: CatalogTable; readonly returned: Returned };

function standIn(view: CatalogTable, origins: Origins): readonly StandIn[] {
  if (!isSimple(view)) return [];
  return [...sourcesOf(view, origins)].map(([key, { returned }]) => ({ key, view, returned }));
}

/** True for a view that selects from one table without grouping, which Postgres could write to. */
export function isSimple({ kind, columns }: CatalogTable): boolean {
  return kind === 'view' && columns.some(({ isComputed }) => !isComputed);
}

/** True for a view that has nothing but columns of one table. */
export function isCopy({ kind, columns }: CatalogTable): boolean {
  return kind === 'view' && columns.every(({ isComputed }) => !isComputed);
}

/** Returns the key; where its table is not tracked, the key that leads to the only view in the place of that table. */
function trackedTarget(
  key: ViewKey,
  view: CatalogTable,
  tables: Tables,
  standIns: ReadonlyMap<string, readonly StandIn[]>,
): readonly ViewKey[] {
  const target = qualifiedKey(key.table);
  if (tables.has(target)) return [key];
  const others = (standIns.get(target) ?? []).flatMap(({ view: other, returned }) => {
    const columns = namesIn(key.foreignColumns, returned);
    if (other === view || columns.length !== 1) return [];
    const { schema, name } = other;
    return [{ ...key, table: { schema, name }, foreignColumns: columns[0]! }];
  });
  return others.length === 1 ? others : [];
}
