/** The part of a Plan that writes: inserts, updates and deletes, single or nested, and the response to them. Pure data.
 *  Built by plan/, composed into SQL by sql/. Not here: reads (query-types.ts), the Plan itself (types.ts). */
import type { CatalogIndex, PgType } from '../catalog/types.ts';
import type { PathStep } from '../errors/engine-error.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Join, Leaf, Predicate } from '../resolve/predicate.ts';
import type { Select } from './query-types.ts';

export type MutationRoot = {
  readonly action: Insert | NestedInsert | Update | NestedUpdate | UpdateMany | Delete;
  /** The response; for an `update-many`, the response of each update in a list. */
  readonly output: MutationOutput;
};

/** A `response` is `{affected_rows, returning, __typename}` in the requested order; a `row` is the one row or null. */
export type MutationOutput =
  | { readonly kind: 'response'; readonly fields: readonly MutationField[] }
  | { readonly kind: 'row'; readonly select: Select };

export type MutationField =
  | { readonly kind: 'affected-rows'; readonly alias: string }
  | { readonly kind: 'returning'; readonly alias: string; readonly select: Select }
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string };

export type Insert = {
  readonly kind: 'insert';
  readonly table: QualifiedName;
  /** The columns any row sets, presets included, in catalog order. */
  readonly columns: readonly { readonly column: string; readonly type: PgType }[];
  /** The rows, with values in the order of `columns`; 'default' when a row omits the column. There is at least one row. */
  readonly rows: readonly (readonly (Leaf | 'default')[])[];
  readonly onConflict: OnConflict | null;
  /** The condition every written row must satisfy; TRUE is not tested. */
  readonly check: Predicate;
};

/** Rows of several tables inserted at once; a step runs after the steps whose values it takes (ADR 9). */
export type NestedInsert = {
  readonly kind: 'nested-insert';
  /** The table of the rows in the response, which `isAnswered` steps insert. */
  readonly table: QualifiedName;
  readonly steps: readonly InsertStep[];
};

export type InsertStep = {
  /** The insert; its leaves may be `inserted`, values that earlier steps have kept. */
  readonly insert: Insert;
  /** Columns whose values later steps take; the step inserts one row then. */
  readonly keeps: readonly string[];
  readonly isAnswered: boolean;
  /** True when no two such steps may write the same row, which what it keeps identifies. */
  readonly writesOnce?: true;
  /** The error when the step inserts no row and later steps need its values; null when none does. */
  readonly unlessInserted: { readonly text: string; readonly path: Path } | null;
  /** The path from the root field's argument: `[0, 'author', 'data']`. */
  readonly path: Path;
};

type Path = readonly PathStep[];

export type OnConflict = {
  readonly target:
    | { readonly kind: 'constraint'; readonly name: string }
    /** The index that Postgres infers from its SQL. */
    | { readonly kind: 'index'; readonly index: CatalogIndex }
    /** The unique index on these columns. */
    | { readonly kind: 'columns'; readonly columns: readonly string[] }
    /** Any conflict; nothing is updated. */
    | { readonly kind: 'any' };
  /** The columns to update; empty means DO NOTHING. */
  readonly updateColumns: readonly string[];
  readonly presets: readonly Assignment[];
  readonly where: Predicate;
  /** The condition every updated row must satisfy; absent: the insert's check. */
  readonly check?: Predicate;
};

export type Assignment =
  | {
      readonly kind: 'set' | 'increment' | 'multiply';
      readonly column: string;
      readonly type: PgType;
      readonly value: Leaf;
    }
  | {
      readonly kind: 'append' | 'prepend' | 'delete-key' | 'delete-element' | 'delete-at-path';
      readonly column: string;
      readonly type: PgType;
      readonly value: Leaf;
    }
  /** Sets the column to its default. */
  | { readonly kind: 'default'; readonly column: string; readonly type: PgType };

export type Update = {
  readonly kind: 'update';
  readonly table: QualifiedName;
  readonly set: readonly Assignment[];
  readonly where: Predicate;
  readonly check: Predicate;
  readonly reached?: Reached;
};

/** Restricts a write to rows related to the rows of an earlier step. */
export type Reached = {
  readonly rows: Leaf;
  /** The join from the written rows to the rows to restrict. */
  readonly join: Join;
  /** A condition on the written rows. */
  readonly where: Predicate;
};

/** An update, then deletes and updates of related rows; each sees the effects of the ones before (ADR 8). */
export type NestedUpdate = {
  readonly kind: 'nested-update';
  /** The table of the rows in the response, which the first step updates. */
  readonly table: QualifiedName;
  readonly steps: readonly UpdateStep[];
};

export type UpdateStep = {
  readonly write: Update | Delete;
  /** True when later steps take the rows of this one. */
  readonly keepsRows: boolean;
  readonly isAnswered: boolean;
  /** The path from the root field's arguments: `['_related', 'articles', 'update', 0]`. */
  readonly path: Path;
};

/** Several updates, run in order; each sees the effects of the ones before. */
type UpdateMany = {
  readonly kind: 'update-many';
  readonly updates: readonly (Update | NestedUpdate | Nothing)[];
};

/** An update without effect; `json` is its response. */
export type Nothing = { readonly kind: 'nothing'; readonly json: string };

export type Delete = {
  readonly kind: 'delete';
  readonly table: QualifiedName;
  readonly where: Predicate;
  readonly reached?: Reached;
};
