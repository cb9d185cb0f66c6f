/** The changes between two catalogs of a database, before and after a piece of SQL.
 *  Tables are identified by oid and columns by attnum, so a rename is not a drop. A table that was dropped and created again under
 *  its name (`drop view v; create view v …`) counts as the same. Not here: the consequences for the metadata
 *  (change/follow-changes.ts). PostgreSQL manual, "pg_class", "pg_attribute". */
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { Catalog, CatalogColumn, CatalogTable, PgType } from './types.ts';

export type CatalogChanges = {
  readonly droppedTables: readonly QualifiedName[];
  readonly renamedTables: readonly Renamed<QualifiedName>[];
  /** Tables that are in both catalogs and whose columns differ. */
  readonly alteredTables: readonly AlteredTable[];
  /** Names that no function has any more. */
  readonly droppedFunctions: readonly QualifiedName[];
  readonly changedFunctions: readonly ChangedFunction[];
  /** True when something was dropped that other objects can depend on: a table, a column, a key, a function. */
  readonly hasDrops: boolean;
};

type Renamed<T> = { readonly from: T; readonly to: T };

export type AlteredTable = {
  readonly before: QualifiedName;
  readonly after: QualifiedName;
  /** The names after the change. */
  readonly addedColumns: readonly string[];
  readonly droppedColumns: readonly string[];
  readonly renamedColumns: readonly Renamed<string>[];
  /** The columns, under their names before the change. */
  readonly retypedColumns: readonly string[];
};

/** A function that had its name to itself, and how it changed. */
export type ChangedFunction = {
  readonly function: QualifiedName;
  /** True when it was dropped or renamed, even if there is a new function of its name. */
  readonly isGone: boolean;
  readonly isOverloaded: boolean;
  readonly isNowVolatile: boolean;
};

export function catalogChanges(before: Catalog, after: Catalog): CatalogChanges {
  const pairs = pairTables(before, after);
  const droppedTables = pairs.filter((pair) => !pair.after).map((pair) => nameOf(pair.before));
  const alteredTables = pairs.flatMap((pair) => (pair.after ? compareColumns(pair.before, pair.after) : []));
  const changedFunctions = compareFunctions(before, after);
  return {
    droppedTables,
    renamedTables: pairs.flatMap((pair) =>
      pair.after && qualifiedKey(pair.before) !== qualifiedKey(pair.after)
        ? [{ from: nameOf(pair.before), to: nameOf(pair.after) }]
        : [],
    ),
    alteredTables,
    droppedFunctions: droppedFunctions(before, after),
    changedFunctions,
    hasDrops:
      droppedTables.length > 0 ||
      alteredTables.some((table) => table.droppedColumns.length > 0) ||
      pairs.some((pair) => pair.after && losesKey(pair.before, pair.after)) ||
      changedFunctions.some(({ isGone }) => isGone) ||
      functionCount(before) > functionCount(after),
  };
}

type TablePair = { readonly before: CatalogTable; readonly after: CatalogTable | undefined };

/** Returns every earlier table with its current form; undefined when it was dropped. */
function pairTables(before: Catalog, after: Catalog): readonly TablePair[] {
  const afterByOid = new Map([...after.tables.values()].map((table) => [table.oid, table]));
  const oidsBefore = new Set([...before.tables.values()].map((table) => table.oid));
  return [...before.tables.values()].map((table) => {
    const sameOid = afterByOid.get(table.oid);
    if (sameOid) return { before: table, after: sameOid };
    const sameName = after.tables.get(qualifiedKey(table));
    return { before: table, after: sameName && !oidsBefore.has(sameName.oid) ? sameName : undefined };
  });
}

function compareColumns(before: CatalogTable, after: CatalogTable): readonly AlteredTable[] {
  const pairs = pairColumns(before, after);
  const survivors = new Set(pairs.flatMap((pair) => (pair.after ? [pair.after.name] : [])));
  const altered: AlteredTable = {
    before: nameOf(before),
    after: nameOf(after),
    addedColumns: after.columns.map((column) => column.name).filter((name) => !survivors.has(name)),
    droppedColumns: pairs.filter((pair) => !pair.after).map((pair) => pair.before.name),
    renamedColumns: pairs.flatMap((pair) =>
      pair.after && pair.after.name !== pair.before.name
        ? [{ from: pair.before.name, to: pair.after.name }]
        : [],
    ),
    retypedColumns: pairs
      .filter((pair) => pair.after && !isSameType(pair.before.type, pair.after.type))
      .map((pair) => pair.before.name),
  };
  const isAltered = [
    altered.addedColumns,
    altered.droppedColumns,
    altered.renamedColumns,
    altered.retypedColumns,
  ].some((list) => list.length > 0);
  return isAltered ? [altered] : [];
}

type ColumnPair = { readonly before: CatalogColumn; readonly after: CatalogColumn | undefined };

function pairColumns(before: CatalogTable, after: CatalogTable): readonly ColumnPair[] {
  const byName = new Map(after.columns.map((column) => [column.name, column]));
  // A table made anew has attnums of its own: only names can be compared.
  if (before.oid !== after.oid) {
    return before.columns.map((column) => ({ before: column, after: byName.get(column.name) }));
  }
  const byPosition = new Map(after.columns.map((column) => [column.position, column]));
  const positionsBefore = new Set(before.columns.map((column) => column.position));
  return before.columns.map((column) => {
    const samePosition = byPosition.get(column.position);
    if (samePosition) return { before: column, after: samePosition };
    const sameName = byName.get(column.name);
    const isNew = sameName && !positionsBefore.has(sameName.position);
    return { before: column, after: isNew ? sameName : undefined };
  });
}

function isSameType(a: PgType, b: PgType): boolean {
  return a.schema === b.schema && a.name === b.name;
}

function droppedFunctions(before: Catalog, after: Catalog): readonly QualifiedName[] {
  return [...before.functions].flatMap(([key, [first]]) =>
    first && !after.functions.has(key) ? [nameOf(first)] : [],
  );
}

function compareFunctions(before: Catalog, after: Catalog): readonly ChangedFunction[] {
  return [...before.functions].flatMap(([key, [first, ...others]]) => {
    if (!first || others.length > 0) return [];
    const overloads = after.functions.get(key) ?? [];
    const same = overloads.find(({ oid }) => oid === first.oid);
    const isOverloaded = overloads.length > 1;
    const isNowVolatile = same?.volatility === 'volatile' && first.volatility !== 'volatile';
    const isChanged = !same || isOverloaded || isNowVolatile;
    return isChanged ? [{ function: nameOf(first), isGone: !same, isOverloaded, isNowVolatile }] : [];
  });
}

function losesKey(before: CatalogTable, after: CatalogTable): boolean {
  const kept = new Set(keysOf(after));
  return keysOf(before).some((name) => !kept.has(name));
}

function keysOf(table: CatalogTable): readonly string[] {
  const { foreignKeys, uniqueKeys, uniqueIndexes, primaryKey } = table;
  const keys = [...foreignKeys, ...uniqueKeys, ...uniqueIndexes, ...(primaryKey ? [primaryKey] : [])];
  return keys.map((key) => key.name);
}

function functionCount(catalog: Catalog): number {
  return [...catalog.functions.values()].flat().length;
}

function nameOf(object: QualifiedName): QualifiedName {
  return { schema: object.schema, name: object.name };
}
