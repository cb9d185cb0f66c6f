/** The types of a random world: tables, relationships, functions, roles, and conditions over rows. Not here: how a world is made
 *  (world.ts), roles (roles.ts), conditions (condition.ts). */
import type { ColumnType, Comparison, Value } from './types.ts';

export type Column = {
  readonly name: string;
  /** A name chosen by hand. */
  readonly called: string | null;
  readonly type: ColumnType;
  readonly isNullable: boolean;
  /** The value of a row that is inserted without one; for a computed field, the value that takes the place of null. */
  readonly standard: Value | null;
  readonly computed: Computed | null;
  /** The expression of a view's column, as SQL over the row x; absent: the column of that name. */
  readonly expression?: string;
};

/** A computed field: the value of a column, or, where that is null, the standard or the argument. */
export type Computed = { readonly from: Table; readonly of: Column; readonly hasArgument: boolean };

export type ForeignKey = {
  readonly columns: readonly Column[];
  readonly to: Table;
  /** At most one row refers to another. */
  readonly isUnique: boolean;
};

export type Table = {
  readonly name: string;
  readonly called: string | null;
  readonly columns: Column[];
  readonly computed: Column[];
  /** The primary key; of a view, the columns that were one. */
  readonly key: readonly Column[];
  /** Unique besides the key: one column that is never given twice. */
  readonly unique: Column | null;
  /** Unique among some of the rows: no constraint, but an index. */
  readonly partial: { readonly column: Column; readonly when: Condition } | null;
  readonly foreignKeys: ForeignKey[];
  readonly relationships: Relationship[];
  /** A view: of which table, and which of its rows. */
  readonly of: Table | null;
  readonly viewed: Condition;
  readonly rows: (readonly (Value | null)[])[];
};

export type Relationship = {
  readonly name: string;
  readonly kind: 'object' | 'array';
  readonly from: Table;
  readonly to: Table;
  readonly mapping: readonly (readonly [Column, Column])[];
  /** How the metadata says it: by our columns, by theirs, or by hand; or it is a computed field that returns rows. */
  readonly using: 'our key' | 'their key' | 'manual' | 'function';
};

/** A tracked function: rows of a table where a column has the value of the argument, or of a session variable. */
export type TrackedFunction = {
  readonly name: string;
  readonly called: string | null;
  readonly returns: Table;
  readonly by: Column;
  /** The default of the argument. */
  readonly standard: Value;
  readonly hasSession: boolean;
};

export type Preset = { readonly column: Column; readonly value: Value; readonly isSession: boolean };

export type Permissions = {
  readonly select: {
    readonly columns: readonly Column[];
    readonly computed: readonly Column[];
    readonly filter: Condition;
    readonly limit: number | null;
    readonly allowsAggregation: boolean;
  } | null;
  readonly insert: {
    readonly columns: readonly Column[];
    readonly check: Condition;
    readonly presets: readonly Preset[];
  } | null;
  readonly update: {
    readonly columns: readonly Column[];
    readonly filter: Condition;
    readonly check: Condition | null;
    readonly presets: readonly Preset[];
  } | null;
  readonly delete: { readonly filter: Condition } | null;
};

export type Role = {
  readonly name: string;
  /** The parents of an inherited role, which may do what they may together; empty for other roles. */
  readonly parents: readonly Role[];
  readonly permissions: ReadonlyMap<Table, Permissions>;
};

export type Operand =
  | { readonly kind: 'value'; readonly type: ColumnType; readonly value: Value }
  | { readonly kind: 'list'; readonly type: ColumnType; readonly values: readonly Value[] }
  | { readonly kind: 'session'; readonly type: ColumnType; readonly isList: boolean };

export type Condition =
  | { readonly kind: 'and'; readonly all: readonly Condition[] }
  | { readonly kind: 'or'; readonly any: readonly Condition[] }
  | { readonly kind: 'not'; readonly not: Condition }
  | {
      readonly kind: 'compare';
      readonly column: Column;
      /** The argument of a computed field; null stands for its default. */
      readonly argument: Value | null;
      readonly comparison: Comparison;
      readonly operand: Operand;
      /** Compared as text: `_cast`. */
      readonly isCast: boolean;
      readonly spelling: number;
    }
  | { readonly kind: 'null'; readonly column: Column; readonly isNull: boolean }
  | {
      readonly kind: 'columns';
      readonly left: Column;
      readonly comparison: Comparison;
      readonly right: Column;
      readonly isRoot: boolean;
    }
  | { readonly kind: 'related'; readonly relationship: Relationship; readonly where: Condition }
  | { readonly kind: 'exists'; readonly table: Table; readonly where: Condition }
  | {
      readonly kind: 'aggregate';
      /** Over what it leads to; null: over the rows of a group. */
      readonly relationship: Relationship | null;
      readonly fn: string;
      readonly columns: readonly Column[];
      readonly isDistinct: boolean;
      readonly where: Condition | null;
      readonly comparison: Comparison;
      readonly operand: Operand;
    };
