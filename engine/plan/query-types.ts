/** The part of a Plan that reads: which rows of which tables, in what order, and what the response holds of each. Pure data.
 *  Built by plan/, composed into SQL by sql/. Every value is a Leaf, so one plan serves all requests of the same text and the
 *  same shape of variables. Not here: writes (mutation-types.ts), the Plan itself (types.ts). */
import type { AggregateFunction } from '../catalog/aggregates.ts';
import type { PgType } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { JsonForm } from '../resolve/model/column.ts';
import type { FunctionCall, Join, Leaf, NativeCall, Predicate, VisibleIf } from '../resolve/predicate.ts';
import type { PageInfoPart } from '../schema/origin.ts';

export type QueryRoot =
  /** A JSON array of rows. */
  | { readonly kind: 'rows'; readonly select: Select }
  /** One row or null, found by its primary key. */
  | { readonly kind: 'row'; readonly select: Select }
  /** A JSON array of the rows after the cursor, and the position of the cursor after them. It is the only root field of its request. */
  | { readonly kind: 'stream'; readonly select: Select; readonly cursor: Leaf }
  /** One object with aggregates over many rows. */
  | ({ readonly kind: 'aggregate' } & Aggregate)
  /** One object with a page of rows. */
  | ({ readonly kind: 'connection' } & ConnectionPage)
  /** A list of objects, each about the rows of one group. */
  | { readonly kind: 'groups'; readonly groups: Groups };

/** Rows of one table: which rows, in what order, and which fields. The role's filter and limit are merged in. */
export type Select = {
  readonly table: QualifiedName;
  /** The source of the rows when it is not the table: a call that returns rows of `table`, a native query, or the request. */
  readonly from?: FunctionCall | NativeCall | Keys;
  readonly fields: readonly Field[];
  readonly where: Predicate;
  readonly orderBy: readonly OrderItem[];
  /** SQL names; they are the first columns of `orderBy`. */
  readonly distinctOn: readonly string[];
  /** The conditions under which the role sees the columns of `distinctOn`. */
  readonly visibleIf?: VisibleIf;
  /** A validated non-negative integer, printed as a literal (a parameter makes Postgres replan every execution). */
  readonly limit: number | null;
  /** Includes the rows beyond the limit that sort equal to its last row. */
  readonly withTies?: true;
  readonly offset: string | null;
};

/** Rows that come with the request: one column per list of values, and a column that numbers them. */
export type Keys = {
  readonly keys: readonly { readonly column: string; readonly values: Leaf }[];
  readonly ordinal: string;
};

/** One key of a row's JSON object, in response order. Aliases within one list are distinct. */
export type Field =
  | {
      readonly kind: 'column';
      readonly alias: string;
      readonly column: string;
      readonly type: PgType;
      /** The form of the value in JSON. */
      readonly json: JsonForm;
      readonly isNullable: boolean;
      /** The value is the key of rows in another source. Without the spaces that fill up a `character(n)`: they mean nothing. */
      readonly isKey?: true;
      /** The path inside a json column, from the `path` argument; null is the whole value. */
      readonly path: Leaf | null;
      /** The condition under which the role sees the value; it is null in other rows. */
      readonly visibleIf?: Predicate;
    }
  /** A computed field that returns a scalar. */
  | {
      readonly kind: 'computed';
      readonly alias: string;
      readonly call: FunctionCall;
      readonly type: PgType;
      readonly json: JsonForm;
      readonly path: Leaf | null;
      /** The condition under which the role sees the value; it is null in other rows. */
      readonly visibleIf?: Predicate;
    }
  /** A computed field that returns rows: `select.from` is the call. It is one row or null unless `isList`. */
  | { readonly kind: 'called'; readonly alias: string; readonly isList: boolean; readonly select: Select }
  /** Filled in by the plan's join of that number; until then the values of `keys` stand at its position. */
  | {
      readonly kind: 'joined';
      readonly alias: string;
      readonly keys: readonly Field[];
      readonly join: number;
    }
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'object'; readonly alias: string; readonly join: Join; readonly select: Select }
  | { readonly kind: 'array'; readonly alias: string; readonly join: Join; readonly select: Select }
  | ({ readonly kind: 'aggregate'; readonly alias: string; readonly join: Join } & Aggregate)
  | ({ readonly kind: 'connection'; readonly alias: string; readonly join: Join } & ConnectionPage)
  /** The global id of the row, built from its table and key. */
  | {
      readonly kind: 'node-id';
      readonly alias: string;
      readonly table: QualifiedName;
      readonly key: readonly { readonly column: string; readonly type: PgType }[];
    };

/** Aggregates over rows. `select` describes the rows, without the role's limit, and has no fields. */
export type Aggregate = {
  readonly select: Select;
  readonly output: readonly AggregateField[];
};

/** One key of an aggregate's JSON object, in response order. */
export type AggregateField =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'values'; readonly alias: string; readonly members: readonly AggregateMember[] }
  /** The rows themselves; `limit` is the smaller of the requested limit and the role's limit. */
  | {
      readonly kind: 'nodes';
      readonly alias: string;
      readonly fields: readonly Field[];
      readonly limit: number | null;
    };

export type AggregateMember =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'values'; readonly alias: string; readonly members: readonly AggregateMember[] }
  | { readonly kind: 'value'; readonly alias: string; readonly value: AggregateValue };

export type AggregateValue =
  /** Counts rows when there are no columns, and rows where the column is not null when there is one. */
  | {
      readonly kind: 'count';
      readonly columns: readonly string[];
      readonly isDistinct: boolean;
      readonly visibleIf?: VisibleIf;
    }
  /** An aggregate function; `type` and `json` are those of the column. */
  | {
      readonly kind: 'function';
      readonly fn: AggregateFunction;
      readonly column: string;
      /** The call of a computed field; `column` is its name then. */
      readonly call?: FunctionCall;
      readonly type: PgType;
      readonly json: JsonForm;
      /** The condition under which the role sees the value; other rows do not count. */
      readonly visibleIf?: Predicate;
    };

/** Rows in groups of equal keys. `where` selects rows and `having` selects groups; both include the role's conditions. */
export type Groups = Pick<Select, 'table' | 'where' | 'limit' | 'offset'> & {
  /** SQL names; without keys all rows are one group. */
  readonly keys: readonly string[];
  /** The conditions under which the role sees the columns in `keys`. */
  readonly visibleIf?: VisibleIf;
  readonly having: Predicate;
  readonly orderBy: readonly GroupOrder[];
  readonly output: readonly GroupField[];
};

export type GroupOrder = Pick<OrderItem, 'direction' | 'nulls'> & {
  readonly by:
    | { readonly kind: 'key'; readonly column: string }
    | { readonly kind: 'aggregate'; readonly value: AggregateValue };
};

/** One key of a group's JSON object. */
export type GroupField =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'keys'; readonly alias: string; readonly fields: readonly Field[] }
  | { readonly kind: 'values'; readonly alias: string; readonly members: readonly AggregateMember[] };

/** A column of the table itself (`path` is empty) or of a row reached over object relationships. Each step of the path
 *  conjoins the role's filter on its table. */
export type OrderItem = {
  readonly path: readonly { readonly join: Join; readonly filter: Predicate }[];
  readonly column: string;
  /** The call of a computed field to order by; `column` is its name then. */
  readonly call?: FunctionCall;
  /** An aggregate over other rows to order by; `column` is its name then. */
  readonly aggregate?: OrderAggregate;
  /** The condition under which the role sees the value; other rows sort as null. */
  readonly visibleIf?: Predicate;
  readonly direction: 'asc' | 'desc';
  readonly nulls: 'first' | 'last';
};

/** An aggregate over the rows a join leads to, or over those a call returns for the row. `filter` is the role's filter. */
export type OrderAggregate = {
  readonly rows:
    | { readonly kind: 'related'; readonly join: Join }
    | { readonly kind: 'called'; readonly call: FunctionCall };
  readonly filter: Predicate;
  readonly value: AggregateValue;
};

/** A page of rows. `select` describes the rows and their order, which ends with the primary key; it has no limit. */
export type ConnectionPage = {
  readonly select: Select;
  /** The values in a cursor, one per item of the order. */
  readonly keys: readonly (CursorKey & { readonly isNullable: boolean })[];
  /** Restricts the page to rows after or before a cursor; null stands for a null in the cursor. */
  readonly bound: {
    readonly side: 'after' | 'before';
    readonly values: readonly (Leaf | null)[];
  } | null;
  /** The size of the page; null is all rows. */
  readonly size: number | null;
  /** True for the last rows instead of the first. */
  readonly isFromEnd: boolean;
  /** True when comparing a row with the cursor may raise an error. */
  readonly mayRaise?: true;
  readonly output: readonly ConnectionField[];
};

/** A value of the order, with the names that lead to it in a cursor. */
export type CursorKey = { readonly names: readonly string[]; readonly type: PgType };

type Constant = { readonly kind: 'constant'; readonly alias: string; readonly json: string };

export type ConnectionField =
  | Constant
  | { readonly kind: 'page-info'; readonly alias: string; readonly fields: readonly PageInfoField[] }
  | { readonly kind: 'edges'; readonly alias: string; readonly fields: readonly EdgeField[] };

export type PageInfoField = Constant | { readonly kind: PageInfoPart; readonly alias: string };

export type EdgeField =
  | Constant
  | { readonly kind: 'cursor'; readonly alias: string }
  | { readonly kind: 'node'; readonly alias: string; readonly fields: readonly Field[] };
