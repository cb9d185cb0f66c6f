/** The part of a Plan that reads: which rows of which tables, in what order, and what the response holds of each. Pure data.
 *  Built by plan/, composed into SQL by sql/. Every value is a Leaf, so one plan serves all requests of the same text and the
 *  same shape of variables. Not here: writes (mutation-types.ts), the Plan itself (types.ts). */
import type { AggregateFunction } from '../catalog/aggregates.ts';
import type { PgType } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { FunctionCall, Join, Leaf, NativeCall, Predicate, VisibleIf } from '../resolve/predicate.ts';
import type { JsonForm } from '../resolve/types.ts';
import type { PageInfoPart } from '../schema/origin.ts';

export type QueryRoot =
  /** A JSON array of rows. */
  | { readonly kind: 'rows'; readonly select: Select }
  /** One row or null: by primary key. */
  | { readonly kind: 'row'; readonly select: Select }
  /** A JSON array of the next rows, and where the cursor stands after them: the only root of its request. */
  | { readonly kind: 'stream'; readonly select: Select }
  /** One object about many rows. */
  | ({ readonly kind: 'aggregate' } & Aggregate)
  /** One object: a page of rows. */
  | ({ readonly kind: 'connection' } & Connection)
  /** A list of objects, each about the rows of one group. */
  | { readonly kind: 'groups'; readonly groups: Groups };

/** Rows of one table: which, in what order, and what of each. Permission filter and limit are already merged in. */
export type Select = {
  readonly table: QualifiedName;
  /** The rows come from this call, which returns rows of `table`, and not from the table itself; or there is no such table,
   *  and they are a native query's. */
  readonly from?: FunctionCall | NativeCall | Keys;
  readonly fields: readonly Field[];
  readonly where: Predicate;
  readonly orderBy: readonly OrderItem[];
  /** SQL names; they lead orderBy. */
  readonly distinctOn: readonly string[];
  /** Of `distinctOn`. */
  readonly visibleIf?: VisibleIf;
  /** Validated non-negative integers, printed as literals (a parameter makes Postgres replan each call). */
  readonly limit: number | null;
  /** Past the limit, too, rows that come last together with those it ends with. */
  readonly withTies?: true;
  readonly offset: string | null;
};

/** Rows that come with the request: a column of each list of values, and one that counts them. */
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
      /** How the value becomes JSON text. */
      readonly json: JsonForm;
      readonly isNullable: boolean;
      /** Path inside a json column, from the `path` argument; null is the whole value. */
      readonly path: Leaf | null;
      /** Null in other rows. */
      readonly visibleIf?: Predicate;
    }
  /** A computed field that is a value. */
  | {
      readonly kind: 'computed';
      readonly alias: string;
      readonly call: FunctionCall;
      readonly type: PgType;
      readonly json: JsonForm;
      readonly path: Leaf | null;
      /** Null in other rows. */
      readonly visibleIf?: Predicate;
    }
  /** A computed field that returns rows: `select.from` is the call; one row or null unless `isList`. */
  | { readonly kind: 'called'; readonly alias: string; readonly isList: boolean; readonly select: Select }
  /** Found elsewhere by the plan's join of that number; until then the values of `keys` stand in its place. */
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
  | ({ readonly kind: 'connection'; readonly alias: string; readonly join: Join } & Connection)
  /** The row's global id, made of its table and key. */
  | {
      readonly kind: 'node-id';
      readonly alias: string;
      readonly table: QualifiedName;
      readonly key: readonly { readonly column: string; readonly type: PgType }[];
    };

/** Rows taken together. `select` says which, without the role's limit, and has no fields of its own. */
export type Aggregate = {
  readonly select: Select;
  readonly output: readonly AggregateField[];
};

/** One key of an aggregate's JSON object, in response order. */
export type AggregateField =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'values'; readonly alias: string; readonly members: readonly AggregateMember[] }
  /** The rows themselves; `limit` is the smaller of what was asked for and what the role may have. */
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
  /** Of rows when there are no columns; of rows where it is not null, when there is one. */
  | {
      readonly kind: 'count';
      readonly columns: readonly string[];
      readonly isDistinct: boolean;
      readonly visibleIf?: VisibleIf;
    }
  /** `type` and `json` are the column's: a number is printed like those it was made of. */
  | {
      readonly kind: 'function';
      readonly fn: AggregateFunction;
      readonly column: string;
      /** Of a computed field, and `column` only names it. */
      readonly call?: FunctionCall;
      readonly type: PgType;
      readonly json: JsonForm;
      /** Other rows do not count. */
      readonly visibleIf?: Predicate;
    };

/** Rows in groups of equal keys. `where` decides which rows, `having` which groups; both hold the role's part already. */
export type Groups = Pick<Select, 'table' | 'where' | 'limit' | 'offset'> & {
  /** SQL names; none makes one group of all rows. */
  readonly keys: readonly string[];
  /** Of `keys`. */
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

/** A column of the table itself (`path` empty) or of a row reached over object relationships.
 *  Each step conjoins the target's row filter for the role. */
export type OrderItem = {
  readonly path: readonly { readonly join: Join; readonly filter: Predicate }[];
  readonly column: string;
  /** A computed field orders, and `column` only names it. */
  readonly call?: FunctionCall;
  /** A value over other rows orders, and `column` only names it. */
  readonly aggregate?: OrderAggregate;
  /** Other rows are ordered as if it were null there. */
  readonly visibleIf?: Predicate;
  readonly direction: 'asc' | 'desc';
  readonly nulls: 'first' | 'last';
};

/** Over the rows a join leads to, or those a call returns for the row; `filter` is the role's. */
export type OrderAggregate = {
  readonly rows:
    | { readonly kind: 'related'; readonly join: Join }
    | { readonly kind: 'called'; readonly call: FunctionCall };
  readonly filter: Predicate;
  readonly value: AggregateValue;
};

/** A page of rows. `select` says which there are and in what order, which ends with the primary key; it has no limit. */
export type Connection = {
  readonly select: Select;
  /** What a cursor says, one each item of the order. */
  readonly keys: readonly (CursorKey & { readonly isNullable: boolean })[];
  /** Only rows after this one, or before it; null is null there, too. */
  readonly bound: {
    readonly side: 'after' | 'before';
    readonly values: readonly (Leaf | null)[];
  } | null;
  /** Null is all. */
  readonly size: number | null;
  /** The last rows, not the first. */
  readonly isFromEnd: boolean;
  /** Comparing a row with the cursor may raise an error. */
  readonly mayRaise?: true;
  readonly output: readonly ConnectionField[];
};

/** A value of the order, by the names that lead to it in a cursor. */
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
