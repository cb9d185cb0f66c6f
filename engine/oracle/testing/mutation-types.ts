/** The types of a random mutation. Not here: how mutations, rows and changes are made (mutation.ts, row.ts, change.ts). */
import type { OPERATORS } from './change-operators.ts';
import type { Field } from './request.ts';
import type { Value } from './types.ts';
import type { Column, Condition, Relationship, Table } from './world-types.ts';

export type Mutation = { readonly roots: readonly MutationRoot[] };

export type MutationRoot = {
  readonly alias: string;
  readonly table: Table;
  readonly action: Action;
  /** The selected fields of the rows written; null when only their number is selected. */
  readonly returning: readonly Field[] | null;
};

export type Action =
  | {
      readonly kind: 'insert';
      readonly objects: readonly Row[];
      readonly conflict: Conflict | null;
      /** `insert_T_one`: answers with the row. */
      readonly isOne: boolean;
    }
  | ({ readonly kind: 'update' } & Update)
  | ({ readonly kind: 'update by key'; readonly key: readonly Value[] } & Omit<Update, 'where'>)
  | { readonly kind: 'update many'; readonly updates: readonly Update[] }
  | { readonly kind: 'delete'; readonly where: Condition }
  | { readonly kind: 'delete by key'; readonly key: readonly Value[] };

export type Update = {
  readonly where: Condition;
  readonly changes: readonly Change[];
  readonly related: readonly RelatedWrites[];
};

export type Given = ReadonlyMap<Column, Value | null>;

/** A row to insert, with the related rows that are inserted beside it. */
export type Row = { readonly given: Given; readonly related: readonly RelatedRows[] };

export type RelatedRows = {
  readonly relationship: Relationship;
  readonly rows: readonly Row[];
  readonly conflict: Conflict | null;
};

/** Deletes and updates of the rows related to those updated. */
export type RelatedWrites = {
  readonly relationship: Relationship;
  readonly deletes: readonly Condition[];
  readonly updates: readonly Update[];
};

export type Conflict = {
  readonly constraint: string;
  readonly columns: readonly Column[];
  /** The condition of a partial index, which says which rows it has. */
  readonly when: Condition;
  readonly update: readonly Column[];
  readonly where: Condition | null;
};

export type Change = {
  readonly column: Column;
  readonly operator: (typeof OPERATORS)[number]['name'];
  readonly value: Value | null;
  /** GraphQL type of the value; null where it is sent as a literal. */
  readonly type: string | null;
};
