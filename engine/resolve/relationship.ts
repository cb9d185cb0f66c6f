/** One relationship of a table: the table it leads to, the columns that join them, and whether many rows match.
 *  In: its metadata, the tables that resolved, the catalog for foreign keys. Out: ResolvedRelationship.
 *  Not here: relationships to other sources and remote schemas (remote-relationship.ts). Spec: "Relationship types"; docs/reference/behaviour/relationships.md. */

import { baseType, builtinType, type Catalog, type CatalogForeignKey } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type {
  ArrayRelationship,
  ForeignKeyOn,
  ManualConfiguration,
  ObjectRelationship,
} from '../metadata/schema/relationship.ts';
import type { Lookup } from './memo.ts';
import { namesOf, noColumn, noTable } from './misnamed.ts';
import type { ResolvedRelationship } from './model/relationship.ts';
import type { ResolvedTable } from './model/table.ts';
import { nativeName } from './names.ts';
import { type Join, joinedPair } from './predicate.ts';

/** The possible targets of a relationship: the tables and native queries of its source that resolved. */
export type RelationshipTargets = {
  readonly source: string;
  readonly tables: Lookup<ResolvedTable>;
  /** Rows of native queries, by qualifiedKey. */
  readonly nativeQueries: Lookup<ResolvedTable>;
  readonly catalog: Catalog;
};

/** Resolves a relationship. Raises `fieldConflict`, `noForeignKey`, `severalForeignKeys`, `tableNotTracked`, `tableNotInSource`,
 *  `nativeQueryNotFound`, `unexpectedPayload` or `columnNotExists`. */
export function resolveRelationship(
  kind: 'object' | 'array',
  definition: ObjectRelationship | ArrayRelationship,
  table: ResolvedTable,
  targets: RelationshipTargets,
): ResolvedRelationship {
  refuseColumnName(definition.name, table);
  const { foreign_key_constraint_on: on, manual_configuration: manual } = definition.using;
  const found = on
    ? 'table' in on
      ? byForeignKeyThere(on, table, targets)
      : byOwnForeignKey(on, table, targets)
    : byColumns(manual!, table, targets);
  // Rows that refer to this one can only be inserted after it.
  const insertion = kind === 'array' ? 'after' : found.insertion;
  return { kind, name: definition.name, ...found, insertion, comment: definition.comment ?? null };
}

type Found = Pick<ResolvedRelationship, 'join' | 'isNullable' | 'insertion'>;

/** Resolves a relationship whose own columns refer to the key of the other table. There is exactly one row unless a column is null. */
function byOwnForeignKey(
  columns: readonly string[],
  table: ResolvedTable,
  targets: RelationshipTargets,
): Found {
  requireColumns(columns, table);
  const own = targets.catalog.tables.get(qualifiedKey(table.table))!;
  const key = theOne(own.foreignKeys.filter((candidate) => sameColumns(candidate.columns, columns)));
  const target = targets.tables.get(qualifiedKey(key.table));
  if (!target) return noTable(key.table, targets.tables);
  return {
    join: {
      table: key.table,
      mapping: pairs(key.columns, key.foreignColumns, { table, target }),
      isUnique: !target.isParent,
    },
    isNullable: key.columns.some((name) => table.columnByName.get(name)!.isNullable),
    insertion: 'before',
  };
}

/** Resolves a relationship whose key is referred to by columns of the other table. Any number of rows match unless those columns
 *  are unique. */
function byForeignKeyThere(on: ForeignKeyOn, table: ResolvedTable, targets: RelationshipTargets): Found {
  const target = targets.tables.get(qualifiedKey(on.table));
  if (!target) {
    const table = printQualified(on.table);
    const misnamed = { name: table, known: namesOf(targets.tables) };
    return fail('tableNotInSource', { table, source: targets.source }, { misnamed });
  }
  requireColumns(on.columns, target);
  const theirs = targets.catalog.tables.get(qualifiedKey(on.table))!;
  const key = theOne(
    theirs.foreignKeys.filter(
      (candidate) => sameColumns(candidate.columns, on.columns) && isSame(candidate.table, table.table),
    ),
  );
  return {
    join: {
      table: target.table,
      mapping: pairs(key.foreignColumns, key.columns, { table, target }),
      isUnique: isUniqueOn(target, key.columns),
    },
    isNullable: true,
    insertion: 'after',
  };
}

function byColumns(manual: ManualConfiguration, table: ResolvedTable, targets: RelationshipTargets): Found {
  const target = manualTarget(manual, targets);
  const own = Object.keys(manual.column_mapping);
  const remote = Object.values(manual.column_mapping);
  if (own.length === 0) fail('unexpectedPayload', { text: 'column_mapping should not be empty' });
  requireColumns(own, table);
  requireColumns(remote, target);
  const mapping = pairs(own, remote, { table, target });
  const isUnique = isUniqueOn(target, remote) && mapping.every((pair) => comparesAsKeys(pair, table, target));
  return {
    join: { table: target.table, mapping, isUnique },
    isNullable: true,
    insertion: manual.insertion_order === 'after_parent' ? 'after' : 'before',
  };
}

function manualTarget(
  { remote_table: table, remote_native_query: query }: ManualConfiguration,
  targets: RelationshipTargets,
): ResolvedTable {
  if ((table === undefined) === (query === undefined)) {
    fail('unexpectedPayload', {
      text: 'either remote_table or remote_native_query must be given, and not both',
    });
  }
  const name = table ?? nativeName(query!);
  const target = (table ? targets.tables : targets.nativeQueries).get(qualifiedKey(name));
  if (target) return target;
  if (table) return noTable(table, targets.tables);
  const known = () => [...(targets.nativeQueries.values?.() ?? [])].map(({ table }) => table.name);
  const misnamed = { name: query!, known };
  return fail('nativeQueryNotFound', { name: query!, source: targets.source }, { misnamed });
}

/** Raises `fieldConflict` and `customNameConflict` when a column has the name: both would be fields of the table. */
function refuseColumnName(name: string, table: ResolvedTable): void {
  if (table.columnByName.has(name)) {
    fail('fieldConflict', { table: printQualified(table.table), with: 'postgres column' });
  }
  const column = table.columns.find(({ graphqlName }) => graphqlName === name);
  if (column) fail('customNameConflict', { with: `custom field name for postgres column "${column.name}"` });
}

function requireColumns(names: readonly string[], table: ResolvedTable): void {
  const missing = names.find((name) => !table.columnByName.has(name));
  if (missing !== undefined) noColumn(missing, table);
}

function theOne(keys: readonly CatalogForeignKey[]): CatalogForeignKey {
  if (keys.length > 1) fail('severalForeignKeys', {});
  return keys[0] ?? fail('noForeignKey', {});
}

/** True when `=` between the two columns is the comparison that the key of the other table is unique by. A float8 may equal several
 *  values of an int8. */
function comparesAsKeys(
  [own, theirs]: Join['mapping'][number],
  table: ResolvedTable,
  target: ResolvedTable,
): boolean {
  const types = [table.columnByName.get(own)!, target.columnByName.get(theirs)!].map(({ type }) =>
    baseType(type),
  );
  const [left, right] = types.map(qualifiedKey) as [string, string];
  return left === right || ALIKE.some((family) => family.includes(left) && family.includes(right));
}

/** Types that Postgres compares with each other without loss. PostgreSQL manual, "Operator Classes and Operator Families". */
const ALIKE: readonly (readonly string[])[] = [
  ['int2', 'int4', 'int8', 'numeric'],
  ['text', 'varchar'],
].map((names) => names.map((name) => qualifiedKey(builtinType(name))));

/** True when the columns contain a whole key, so that no two rows have equal values in them. The key of a table does not cover the
 *  rows of tables that inherit from it. */
export function isUniqueOn(table: ResolvedTable, columns: readonly string[]): boolean {
  if (table.isParent) return false;
  return table.uniqueKeys.some((key) => key.columns.every((column) => columns.includes(column)));
}

/** True when both lists have the same columns in any order. */
function sameColumns(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((name) => right.includes(name));
}

function isSame(left: QualifiedName, right: QualifiedName): boolean {
  return left.schema === right.schema && left.name === right.name;
}

/** Returns the pairs of columns of the table and columns of the target, which have them. */
function pairs(
  own: readonly string[],
  theirs: readonly string[],
  { table, target }: { readonly table: ResolvedTable; readonly target: ResolvedTable },
): Join['mapping'] {
  return own.map((name, i) =>
    joinedPair(table.columnByName.get(name)!, target.columnByName.get(theirs[i]!)!),
  );
}
