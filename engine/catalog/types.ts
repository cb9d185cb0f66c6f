/** What the database says about itself: tables, columns, keys, functions, as plain immutable data.
 *  Out of catalog/introspect.ts, into resolve/. Not here: what of it is tracked (resolve/), how types look in GraphQL
 *  (scalars.ts). Source: PostgreSQL manual, "System Catalogs". */
import type { QualifiedName } from '../metadata/schema/common.ts';

export type Catalog = {
  /** Server version, for example 150004. */
  readonly serverVersion: number;
  /** By qualifiedKey. Every table, view, materialized, foreign and partitioned table outside the system schemas. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** By qualifiedKey; overloads share a key. */
  readonly functions: ReadonlyMap<string, readonly CatalogFunction[]>;
  /** Has any of the tables a trigger of somebody's. */
  readonly hasTriggers: boolean;
  /** By qualifiedKey: what a value may be, so neither rows of tables nor pseudo-types. */
  readonly types: ReadonlyMap<string, PgType>;
  /** What PREPARE said about native queries, by their signature (resolve/native-query.ts): null is nothing wrong.
   *  One that was not asked about counts as right. */
  readonly preparedQueries: ReadonlyMap<string, string | null>;
  /** By qualifiedKey: the rows of tables that are enums, as of when they were last asked for; see enum-rows.ts. */
  readonly enumRows: ReadonlyMap<string, readonly EnumRow[]>;
  /** Fingerprints of tables and functions, taken just before the catalog was read (fingerprint.ts). Absent: changes are not noticed. */
  readonly fingerprints?: ReadonlyMap<string, bigint>;
  /** Why the database does not answer now. The source is inconsistent then, and everything in it is kept as it was. */
  readonly lost?: string | undefined;
};

export type EnumRow = { readonly value: string; readonly comment: string | null };

export type CatalogTable = QualifiedName & {
  /** pg_class.oid: stable across renames, which is how run_sql recognises one. */
  readonly oid: number;
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table' | 'partitioned table';
  readonly comment: string | null;
  /** In attnum order. */
  readonly columns: readonly CatalogColumn[];
  readonly primaryKey: CatalogKey | null;
  /** Unique constraints and unique non-partial indexes over plain columns, primary key excluded. */
  readonly uniqueKeys: readonly CatalogKey[];
  /** Unique indexes that are no constraint's, partial ones and those over expressions, too. */
  readonly uniqueIndexes: readonly CatalogIndex[];
  readonly foreignKeys: readonly CatalogForeignKey[];
  readonly isInsertable: boolean;
  readonly isUpdatable: boolean;
  readonly isDeletable: boolean;
};

export type CatalogKey = {
  readonly name: string;
  readonly columns: readonly string[];
  /** False for a bare unique index, which `on conflict on constraint` cannot name. */
  readonly isConstraint: boolean;
};

/** Told in SQL, as the database prints it: what `on conflict` infers an index from. */
export type CatalogIndex = {
  readonly name: string;
  /** Columns and expressions: `email`, `lower(name)`. */
  readonly on: readonly string[];
  /** The rows it holds; null is all. */
  readonly where: string | null;
};

export type CatalogForeignKey = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly table: QualifiedName;
  /** Same length and order as `columns`. */
  readonly foreignColumns: readonly string[];
};

export type CatalogColumn = {
  readonly name: string;
  /** pg_attribute.attnum: stable across renames. */
  readonly position: number;
  readonly type: PgType;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  /** `always` and stored generated columns cannot be written. */
  readonly identity: 'always' | 'by default' | null;
  readonly isGenerated: boolean;
  /** The value is the result of an expression that Postgres evaluates when the column is read: in a view that is more than
   *  the column of a table, or of a virtual generated column. Absent: it is stored. */
  readonly isComputed?: true;
  readonly comment: string | null;
};

/** A Postgres type by its own name (`int4`, not `integer`), so that casts are unambiguous. */
export type PgType = {
  readonly schema: string;
  readonly name: string;
  readonly kind: 'base' | 'enum' | 'domain' | 'composite' | 'range' | 'multirange' | 'pseudo';
  /** The element's type when this is an array. */
  readonly element: PgType | null;
  /** What a domain stands for in the end. */
  readonly base: PgType | null;
};

/** A type of pg_catalog by its typname. */
export function builtinType(name: string): PgType {
  return { schema: 'pg_catalog', name, kind: 'base', element: null, base: null };
}

/** The array type over `element`, under the name Postgres usually gives it; in SQL it is written `element[]`. Postgres has no
 *  arrays of arrays: one over an array type is a list of them, each in its text form (sql/fragment.ts, execute/bind.ts). */
export function arrayOf(element: PgType): PgType {
  return { schema: element.schema, name: `_${element.name}`, kind: 'base', element, base: null };
}

export type CatalogFunction = QualifiedName & {
  readonly oid: number;
  readonly volatility: 'immutable' | 'stable' | 'volatile';
  readonly comment: string | null;
  readonly returnsSet: boolean;
  readonly returnType: PgType;
  /** The table whose rows it returns, when it returns rows of one. */
  readonly returnsTable: QualifiedName | null;
  readonly hasVariadic: boolean;
  readonly arguments: readonly CatalogArgument[];
};

export type CatalogArgument = {
  readonly name: string | null;
  readonly mode: 'in' | 'out' | 'inout' | 'variadic' | 'table';
  readonly type: PgType;
  readonly hasDefault: boolean;
};
