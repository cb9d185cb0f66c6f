/** Predicates: typed conditions over the rows of one table. Filters of permissions resolve to predicates, `where` arguments are
 *  planned as predicates, and sql/bool-exp.ts prints them. Values are leaves, which say where a value comes from, so that one plan
 *  serves every request. Not here: parsing conditions (bool-exp.ts, plan/bool-exp.ts). Spec: BoolExp; docs/reference/behaviour/operators.md. */

import type { PredicateFunction } from '../catalog/aggregates.ts';
import {
  OPERATORS,
  type OperatorName,
  type OperatorRow,
  operatorSchema,
  type PatternLanguage,
} from '../catalog/operators.ts';
import type { PgType } from '../catalog/types.ts';
import type { PathStep } from '../errors/engine-error.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { SessionSetting } from './session.ts';

/** The origin of a parameter's value when a statement is bound. The value is sent as text and cast to `type` in SQL. */
export type Leaf =
  /** A value known at plan time. `value` is sent as it is: text, an array of text for array types, or null. */
  | {
      readonly kind: 'constant';
      readonly value: LeafValue;
      readonly type: PgType;
      readonly pattern?: PatternLanguage;
    }
  /** A session variable by its lower-case name; `missingSessionVariable` when the session does not have it. For an array type its
   *  value is a Postgres array literal, `{1,2}`. */
  | {
      readonly kind: 'session';
      readonly variable: string;
      readonly type: PgType;
      readonly pattern?: PatternLanguage;
    }
  /** A value inside the coerced variables of a request: `['where', 'id', '_eq']`. `meaning` maps names of an enum to their values in
   *  the database, when they differ. */
  | {
      readonly kind: 'variable';
      readonly path: readonly PathStep[];
      /** The path inside the JSON of a variable that is an id or a cursor. */
      readonly within?: readonly PathStep[];
      readonly type: PgType;
      /** The language of a value that is a pattern, and may be refused. */
      readonly pattern?: PatternLanguage;
      readonly meaning?: ReadonlyMap<string, string>;
    }
  /** A list whose items have different origins, sent as one array. `type` is the array type. */
  | {
      readonly kind: 'list';
      readonly items: readonly Leaf[];
      readonly type: PgType;
      readonly pattern?: PatternLanguage;
    }
  /** The values of columns in another source's rows that satisfy `where`, read before the statement runs. For a permission that names a
   *  remote relationship. Of one column they are an array, of several a JSON list of lists; `type` says which. */
  | ({ readonly kind: 'fetched'; readonly type: PgType } & FetchedColumns)
  /** All session variables as one json object, for functions with a session argument. */
  | { readonly kind: 'session-variables'; readonly type: PgType }
  /** The text of a setting that holds the session. */
  | { readonly kind: 'session-setting'; readonly setting: SessionSetting; readonly type: PgType }
  /** The rows that a mutation has written, as an array of the row type, for the statement that reads its response. */
  | { readonly kind: 'written'; readonly type: PgType }
  /** The cursor of a stream: the initial value, and later the value of the last row sent. */
  | { readonly kind: 'stream-cursor'; readonly initial: Leaf; readonly type: PgType }
  /** The number of rows that nested writes have written in all tables. */
  | { readonly kind: 'affected-rows'; readonly type: PgType }
  /** A value that step `step` of nested writes has kept, by its position among the kept values. */
  | { readonly kind: 'inserted'; readonly step: number; readonly kept: number; readonly type: PgType };

/** Columns of a table in another source, in the rows that satisfy `where` and have a value in each of them. */
export type FetchedColumns = {
  readonly source: string;
  readonly table: QualifiedName;
  readonly columns: readonly string[];
  readonly where: Predicate;
};

/** A call of an SQL function. Arguments are in call order; those without a name are passed by position, others by name. */
export type FunctionCall = {
  readonly function: QualifiedName;
  readonly arguments: readonly CallArgument[];
  /** Set where rows are counted and the function returns one row: null is a row of nulls, which is none. */
  readonly mayBeNull?: true;
};

export type CallArgument = {
  readonly name: string | null;
  readonly value:
    | Leaf
    /** The current row of a table, as a value of the type of the table. */
    | { readonly kind: 'row'; readonly table: QualifiedName };
};

/** A call of a native query: its SQL with values in it, and the columns that its rows are read as. */
export type NativeCall = {
  readonly code: readonly (string | Leaf)[];
  readonly columns: readonly { readonly column: string; readonly type: PgType }[];
};

export type LeafValue = string | readonly (string | null)[] | null;

/** A column of ours and the column of the other table that equals it; then the schema of `=` between their types where it is not the
 *  bare operator (catalog/operators.ts). */
export type JoinedPair = readonly [local: string, remote: string, schema?: string];

/** The other table of a relationship, and how rows match. */
export type Join = {
  readonly table: QualifiedName;
  readonly mapping: readonly JoinedPair[];
  /** True when at most one row of `table` matches, so that a plain left join is safe. */
  readonly isUnique: boolean;
  /** The native query whose rows are joined in place of `table`. */
  readonly from?: NativeCall;
};

/** A value over many rows: the rows joined to a row, or without a join the rows of its group. Only rows that satisfy `where` and
 *  `filter`, the permission on the target, count. */
export type AggregateRef = {
  readonly join: Join | null;
  readonly fn: PredicateFunction;
  /** The columns of the aggregate. Without any, rows are counted. */
  readonly columns: readonly string[];
  readonly isDistinct: boolean;
  readonly where: Predicate;
  readonly filter?: Predicate;
  readonly visibleIf?: VisibleIf;
};

/** The rows in which a role sees a column, by column. In other rows the column counts as null. */
export type VisibleIf = Readonly<Record<string, Predicate>>;

export type ColumnRef = {
  readonly column: string;
  readonly type: PgType;
  /** Present for a computed field, whose value is the result of the call; `column` only names it. */
  readonly call?: FunctionCall;
  /** Present for a value over many rows; `column` only names it. */
  readonly aggregate?: AggregateRef;
  /** The type that `_cast` compares the value as. */
  readonly cast?: PgType;
  /** Present when reading the value evaluates an expression: a column of a view or a native query. */
  readonly isComputed?: true;
  /** The rows in which the role sees the value. In other rows it is compared as null. */
  readonly visibleIf?: Predicate;
};

export type Operand =
  | Leaf
  /** The values of an operator that takes several. */
  | { readonly kind: 'arguments'; readonly values: readonly Leaf[] }
  /** The column that `_ceq` and similar operators compare with, of the same row or of the root table of the expression. */
  | {
      readonly kind: 'column';
      readonly column: string;
      readonly scope: 'row' | 'root';
      readonly type: PgType;
    };

export type Predicate =
  /** Always true, as `{}` is. */
  | { readonly kind: 'true' }
  | { readonly kind: 'false' }
  | { readonly kind: 'and'; readonly all: readonly Predicate[] }
  | { readonly kind: 'or'; readonly any: readonly Predicate[] }
  | { readonly kind: 'not'; readonly not: Predicate }
  | {
      readonly kind: 'compare';
      readonly left: ColumnRef;
      readonly operator: OperatorName;
      readonly right: Operand;
    }
  | { readonly kind: 'is-null'; readonly left: ColumnRef; readonly isNull: boolean }
  /** A joined row satisfies `where`, and `filter`, the permission on the target. A `root` operand inside `filter` means the joined
   *  row, and inside `where` the root of the whole expression. */
  | { readonly kind: 'related'; readonly join: Join; readonly where: Predicate; readonly filter?: Predicate }
  /** Like `related`, for the rows that a call returns. */
  | {
      readonly kind: 'called';
      readonly call: FunctionCall;
      readonly where: Predicate;
      readonly filter?: Predicate;
    }
  /** `where` is true and is evaluated only on rows that satisfy `filter` (row-barrier.ts). */
  | { readonly kind: 'barrier'; readonly filter: Predicate; readonly where: Predicate }
  /** A row of an unrelated table satisfies `where`. A `root` operand inside still means the outermost table. */
  | { readonly kind: 'exists'; readonly table: QualifiedName; readonly where: Predicate };

/** Returns the pair of two columns. */
export function joinedPair(local: TypedColumn, remote: TypedColumn): JoinedPair {
  const schema = operatorSchema(local.type, remote.type);
  return schema === null ? [local.name, remote.name] : [local.name, remote.name, schema];
}

type TypedColumn = { readonly name: string; readonly type: PgType };

export const TRUE: Predicate = { kind: 'true' };
export const FALSE: Predicate = { kind: 'false' };

/** Returns the conjunction, without `true`, with nested conjunctions flattened. One `false` makes it false. */
export function and(...all: readonly Predicate[]): Predicate {
  return allOf(all);
}

/** Returns the conjunction of a list, which may be too long for arguments. */
export function allOf(all: readonly Predicate[]): Predicate {
  const flat = all.flatMap((p) => (p.kind === 'and' ? p.all : p.kind === 'true' ? [] : [p]));
  if (flat.some((p) => p.kind === 'false')) return FALSE;
  return flat.length === 0 ? TRUE : flat.length === 1 ? flat[0]! : { kind: 'and', all: flat };
}

/** Returns the disjunction, without `false`, with nested disjunctions flattened. One `true` makes it true, and none makes it false. */
export function or(...any: readonly Predicate[]): Predicate {
  return anyOf(any);
}

/** Returns the disjunction of a list, which may be too long for arguments. */
export function anyOf(any: readonly Predicate[]): Predicate {
  const flat = any.flatMap((p) => (p.kind === 'or' ? p.any : p.kind === 'false' ? [] : [p]));
  if (flat.some((p) => p.kind === 'true')) return TRUE;
  return flat.length === 0 ? FALSE : flat.length === 1 ? flat[0]! : { kind: 'or', any: flat };
}

/** Returns the disjunction of predicates of which some may be equal. */
export function either(any: readonly Predicate[]): Predicate {
  return or(...new Map(any.map((predicate) => [JSON.stringify(predicate), predicate])).values());
}

export function not(predicate: Predicate): Predicate {
  if (predicate.kind === 'true') return FALSE;
  if (predicate.kind === 'false') return TRUE;
  return { kind: 'not', not: predicate };
}

/** Returns the comparison of a value with a leaf or a column. */
export function comparison(left: ColumnRef, operator: OperatorName, right: Operand): Predicate {
  const { pattern }: OperatorRow = OPERATORS[operator];
  const isPattern = pattern !== undefined && PATTERN_KINDS.has(right.kind);
  return {
    kind: 'compare',
    left,
    operator,
    right: isPattern ? ({ ...(right as Leaf), pattern } as Leaf) : right,
  };
}

/** The kinds of leaves whose value comes from a request, a session or a permission. */
const PATTERN_KINDS: ReadonlySet<string> = new Set(['constant', 'session', 'variable', 'list']);

/** Returns the `visibleIf` of a column or field for an object that refers to it. */
export function visibleIfOf({ visibleIf }: { readonly visibleIf?: Predicate | undefined }): {
  readonly visibleIf?: Predicate;
} {
  return visibleIf ? { visibleIf } : {};
}
