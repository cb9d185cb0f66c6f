/** The catalog of a database: its tables, columns, keys, functions and types as immutable data. introspect.ts returns it, resolve/
 *  reads it. Not here: tracked tables (resolve/), the GraphQL form of types (scalars.ts). Reference: PostgreSQL manual, "System Catalogs". */
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Distribution, ShardReader } from './distribution.ts';

export type Catalog = {
  /** The version of the server, for example 150004. */
  readonly serverVersion: number;
  /** Present when the database has the extension Citus. */
  readonly hasCitus?: true;
  /** Every table, view, materialized view, foreign and partitioned table outside the system schemas. Keyed by qualifiedKey. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** Functions, keyed by qualifiedKey. Overloads share a key. */
  readonly functions: ReadonlyMap<string, readonly CatalogFunction[]>;
  readonly reactions: Reactions;
  /** Types of values, keyed by qualifiedKey, without row types of tables and pseudo-types. */
  readonly types: ReadonlyMap<string, PgType>;
  /** The errors of PREPARE for native queries, by signature (resolve/native-query.ts); null when there was none.
   *  A query that was not prepared counts as valid. */
  readonly preparedQueries: ReadonlyMap<string, string | null>;
  /** The rows of enum tables when they were last read (enum-rows.ts). Keyed by qualifiedKey. */
  readonly enumRows: ReadonlyMap<string, readonly EnumRow[]>;
  /** Fingerprints of tables and functions, read just before the catalog (fingerprint.ts). Without them, changes are not noticed. */
  readonly fingerprints?: ReadonlyMap<string, bigint>;
  /** Why the database is unreachable now. The source is inconsistent then, and its objects are kept. */
  readonly lost?: string | undefined;
  /** Present when the database has not answered since the catalog became outdated: the reading whose answer replaces it. */
  readonly awaits?: object | undefined;
};

/** The moment at which a write runs code of the database that may read the session of the writer: already while the statement runs, or only
 *  after it, before its transaction ends. */
export type Reaction = 'during' | 'after';

/** The tables whose writes run such code, and the writes that follow from others. Tables are named by qualifiedKey. */
export type Reactions = {
  /** The reactions to the writes of each table that has some of its own. */
  readonly own: ReadonlyMap<string, Reaction>;
  /** The tables whose writes may write another one, by the other one, which is a part of them or has a foreign key that changes with
   *  their rows. */
  readonly writers: ReadonlyMap<string, readonly { readonly writer: string; readonly isPart: boolean }[]>;
};

export type EnumRow = { readonly value: string; readonly comment: string | null };

export type CatalogTable = QualifiedName & {
  /** The pg_class.oid, which does not change with a rename, so that run_sql can recognise one. */
  readonly oid: number;
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table' | 'partitioned table';
  readonly comment: string | null;
  /** Columns, ordered by attnum. */
  readonly columns: readonly CatalogColumn[];
  readonly primaryKey: CatalogKey | null;
  /** Unique constraints, and unique indexes over plain columns that are not partial, without the primary key. */
  readonly uniqueKeys: readonly CatalogKey[];
  /** Unique indexes of no constraint, including partial ones and those over expressions. */
  readonly uniqueIndexes: readonly CatalogIndex[];
  readonly foreignKeys: readonly CatalogForeignKey[];
  readonly isInsertable: boolean;
  readonly isUpdatable: boolean;
  readonly isDeletable: boolean;
  /** Present when other tables inherit from it. Its keys do not cover their rows, which are read as rows of it. */
  readonly isParent?: true;
  /** The distribution over the machines of a Citus cluster; absent for a local table, and in a database that is no cluster. */
  readonly distribution?: Distribution;
  /** Present for a local table that a Citus cluster knows. */
  readonly isLocalInCluster?: true;
};

export type CatalogKey = {
  readonly name: string;
  readonly columns: readonly string[];
  /** False for a bare unique index, which `on conflict on constraint` cannot name. */
  readonly isConstraint: boolean;
};

/** A unique index in SQL as the database prints it, which `on conflict` infers the index from. */
export type CatalogIndex = {
  readonly name: string;
  /** The columns and expressions: `email`, `lower(name)`. */
  readonly on: readonly string[];
  /** The condition of a partial index; null for all rows. */
  readonly where: string | null;
};

export type CatalogForeignKey = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly table: QualifiedName;
  /** The referenced columns, in the order of `columns`. */
  readonly foreignColumns: readonly string[];
};

export type CatalogColumn = {
  readonly name: string;
  /** The pg_attribute.attnum, which does not change with a rename. */
  readonly position: number;
  readonly type: PgType;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  /** The kind of an identity column. Clients can write neither an `always` one nor a generated column. */
  readonly identity: 'always' | 'by default' | null;
  readonly isGenerated: boolean;
  /** Present when Postgres evaluates an expression to read the column: in a view that is more than
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
  /** The type below all domains, for a domain. */
  readonly base: PgType | null;
  /** The schema of `=` with a type, by its qualifiedKey, and of the other comparisons. Only operators outside pg_catalog are listed. */
  readonly operators?: Readonly<Record<string, string>>;
};

/** Returns a type of pg_catalog by its typname. */
export function builtinType(name: string): PgType {
  return { schema: 'pg_catalog', name, kind: 'base', element: null, base: null };
}

/** Returns the type of the values of a domain; other types are returned as they are. An operand has this type: the conditions of a domain
 *  are about the values that a column holds, not about those that it is compared with or changed by. */
export function baseType(type: PgType): PgType {
  return type.base ?? type;
}

/** Returns the array type over `element`, under its usual name in Postgres; SQL writes `element[]`. Postgres has no arrays of arrays:
 *  an array over an array type is a list of arrays in their text form (sql/fragment.ts, execute/bind.ts). */
export function arrayOf(element: PgType): PgType {
  return { schema: element.schema, name: `_${element.name}`, kind: 'base', element, base: null };
}

/** Returns what separates the elements of an array in text: a comma, and a semicolon between boxes. PostgreSQL manual, "Array Input and
 *  Output Syntax". */
export function arrayDelimiter(element: PgType): ',' | ';' {
  const { schema, name } = baseType(element);
  return schema === 'pg_catalog' && name === 'box' ? ';' : ',';
}

export type CatalogFunction = QualifiedName & {
  readonly oid: number;
  readonly volatility: 'immutable' | 'stable' | 'volatile';
  readonly comment: string | null;
  readonly returnsSet: boolean;
  readonly returnType: PgType;
  /** The table whose rows it returns; null when it returns no rows of a table. */
  readonly returnsTable: QualifiedName | null;
  readonly hasVariadic: boolean;
  readonly arguments: readonly CatalogArgument[];
  /** Present when its body names a table that a Citus cluster has on shards. */
  readonly readsShards?: ShardReader;
};

export type CatalogArgument = {
  readonly name: string | null;
  readonly mode: 'in' | 'out' | 'inout' | 'variadic' | 'table';
  readonly type: PgType;
  readonly hasDefault: boolean;
};
