/** The part of a Plan that writes: inserts, updates and deletes, single or nested, and the response to them. Pure data.
 *  Built by plan/, composed into SQL by sql/. Not here: reads (query-types.ts), the Plan itself (types.ts). */
import type { CatalogIndex, PgType } from '../catalog/types.ts';
import type { PathStep } from '../errors/engine-error.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Join, Leaf, Predicate } from '../resolve/predicate.ts';
import type { Select } from './query-types.ts';

export type MutationRoot = {
  readonly action: Insert | NestedInsert | Update | NestedUpdate | UpdateMany | Delete;
  /** Of an `update-many`: the answer to each update, in a list. */
  readonly output: MutationOutput;
};

/** `response`: `{affected_rows, returning, __typename}` in the asked order; `row`: the one row or null. */
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
  /** Union of the columns any row gives, presets included, in catalog order. */
  readonly columns: readonly { readonly column: string; readonly type: PgType }[];
  /** Same order as `columns`; 'default' where a row leaves the column out. At least one row. */
  readonly rows: readonly (readonly (Leaf | 'default')[])[];
  readonly onConflict: OnConflict | null;
  /** Must hold for every row written; TRUE is not tested. */
  readonly check: Predicate;
};

/** Rows of several tables inserted at once, each statement after those whose values it takes (ADR 9). */
export type NestedInsert = {
  readonly kind: 'nested-insert';
  /** What the answer is about: the rows of `isAnswered` steps. */
  readonly table: QualifiedName;
  readonly steps: readonly InsertStep[];
};

export type InsertStep = {
  /** Its leaves may be `inserted`: values earlier steps have kept. */
  readonly insert: Insert;
  /** Columns whose values later steps take; there is one row then. */
  readonly keeps: readonly string[];
  readonly isAnswered: boolean;
  /** The failure when no row was inserted, of which later steps take values; null: none does. */
  readonly unlessInserted: { readonly text: string; readonly path: Path } | null;
  /** From the root field's argument: `[0, 'author', 'data']`. */
  readonly path: Path;
};

type Path = readonly PathStep[];

export type OnConflict = {
  readonly target:
    | { readonly kind: 'constraint'; readonly name: string }
    /** The index that its SQL lets Postgres infer. */
    | { readonly kind: 'index'; readonly index: CatalogIndex }
    /** The unique index of these columns. */
    | { readonly kind: 'columns'; readonly columns: readonly string[] }
    /** Whichever it is; nothing is updated. */
    | { readonly kind: 'any' };
  /** Empty: do nothing. */
  readonly updateColumns: readonly string[];
  readonly presets: readonly Assignment[];
  readonly where: Predicate;
  /** Must hold for every row updated instead of inserted; absent: the insert's check. */
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
  /** What the database gives a column nobody has written. */
  | { readonly kind: 'default'; readonly column: string; readonly type: PgType };

export type Update = {
  readonly kind: 'update';
  readonly table: QualifiedName;
  readonly set: readonly Assignment[];
  readonly where: Predicate;
  readonly check: Predicate;
  readonly reached?: Reached;
};

/** Only rows that belong to rows an earlier step has written. */
export type Reached = {
  readonly rows: Leaf;
  /** From the written rows. */
  readonly join: Join;
  /** Of the written rows. */
  readonly where: Predicate;
};

/** An update, then deletes and updates of related rows, each seeing what the ones before have done (ADR 8). */
export type NestedUpdate = {
  readonly kind: 'nested-update';
  /** What the answer is about: the rows of the first step. */
  readonly table: QualifiedName;
  readonly steps: readonly UpdateStep[];
};

export type UpdateStep = {
  readonly write: Update | Delete;
  /** Later steps take its rows. */
  readonly keepsRows: boolean;
  readonly isAnswered: boolean;
  /** From the root field's arguments: `['_related', 'articles', 'update', 0]`. */
  readonly path: Path;
};

/** One after the other, each seeing what the ones before have done. */
export type UpdateMany = {
  readonly kind: 'update-many';
  readonly updates: readonly (Update | NestedUpdate | Nothing)[];
};

/** Nothing is to be written; `json` is the answer that says so. */
export type Nothing = { readonly kind: 'nothing'; readonly json: string };

export type Delete = {
  readonly kind: 'delete';
  readonly table: QualifiedName;
  readonly where: Predicate;
  readonly reached?: Reached;
};
