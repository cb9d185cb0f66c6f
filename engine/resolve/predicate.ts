/** A typed condition over the rows of one table, and the values in it. Permission filters resolve to it, `where` arguments
 *  plan to it, sql/bool-exp.ts renders it. Values are leaves: where a value comes from, never the value spliced in, so that
 *  one plan serves every caller. Spec: BoolExp; docs/reference/behaviour/operators.md. */
import type { PredicateFunction } from '../catalog/aggregates.ts';
import { OPERATORS, type OperatorName, type OperatorRow } from '../catalog/operators.ts';
import type { PgType } from '../catalog/types.ts';
import type { PathStep } from '../errors/engine-error.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';

/** Where a parameter's value comes from when a statement is bound. Always sent as text and cast to `type` in SQL. */
export type Leaf =
  /** Known at plan time. `value` is what the driver sends: text, an array of text for array types, or null. */
  | {
      readonly kind: 'constant';
      readonly value: LeafValue;
      readonly type: PgType;
      readonly isLikePattern?: true;
    }
  /** A session variable by its lower-case name; absent at run time is `missingSessionVariable`.
   *  For an array type the variable holds a Postgres array literal `{1,2}`. */
  | {
      readonly kind: 'session';
      readonly variable: string;
      readonly type: PgType;
      readonly isLikePattern?: true;
    }
  /** A value inside the request's coerced variables: `['where', 'id', '_eq']`. `meaning`: what an enum's names stand for in
   *  the database, where that is something else. */
  | {
      readonly kind: 'variable';
      readonly path: readonly PathStep[];
      /** The variable is an id or a cursor, and this is where in its JSON. */
      readonly within?: readonly PathStep[];
      readonly type: PgType;
      /** The value is refused where it is no pattern for LIKE. */
      readonly isLikePattern?: true;
      readonly meaning?: ReadonlyMap<string, string>;
    }
  /** A list whose items come from different places; sent as one array. `type` is the array type. */
  | { readonly kind: 'list'; readonly items: readonly Leaf[]; readonly type: PgType }
  /** All session variables as one json object, for functions that want to know who asks. */
  | { readonly kind: 'session-variables'; readonly type: PgType }
  /** The rows a mutation has just written, as an array of the table's row type, for the statement that answers it. */
  | { readonly kind: 'written'; readonly type: PgType }
  /** Where a stream stands: at the initial value, and then at that of the last row sent. */
  | { readonly kind: 'stream-cursor'; readonly initial: Leaf; readonly type: PgType }
  /** How many rows were written with them, in all tables. */
  | { readonly kind: 'affected-rows'; readonly type: PgType }
  /** A value that step `step` of nested writes has kept, by its place among the kept ones. */
  | { readonly kind: 'inserted'; readonly step: number; readonly kept: number; readonly type: PgType };

/** A call of an SQL function. Arguments are in call order: those without a name are passed by position, the others by name. */
export type FunctionCall = {
  readonly function: QualifiedName;
  readonly arguments: readonly CallArgument[];
};

export type CallArgument = {
  readonly name: string | null;
  readonly value:
    | Leaf
    /** The row the call stands beside, all its columns in order, as a value of its table's type. */
    | { readonly kind: 'row'; readonly table: QualifiedName; readonly columns: readonly string[] };
};

/** SQL an administrator wrote, with values between its text, and the columns of its rows that count, as what they count. */
export type NativeCall = {
  readonly code: readonly (string | Leaf)[];
  readonly columns: readonly { readonly column: string; readonly type: PgType }[];
};

export type LeafValue = string | readonly (string | null)[] | null;

/** The other table of a relationship and how rows match: pairs of (our column, their column). */
export type Join = {
  readonly table: QualifiedName;
  readonly mapping: readonly (readonly [local: string, remote: string])[];
  /** At most one row of `table` matches: a plain left join is safe. */
  readonly isUnique: boolean;
  /** The rows are not those of `table` but of this. */
  readonly from?: NativeCall;
};

/** A value over many rows: those that belong to a row through the join, or, without one, those of the row's group; of them
 *  those that satisfy `where` and `filter`, the target's own permission. */
export type AggregateRef = {
  readonly join: Join | null;
  readonly fn: PredicateFunction;
  /** None counts rows. */
  readonly columns: readonly string[];
  readonly isDistinct: boolean;
  readonly where: Predicate;
  readonly filter?: Predicate;
  readonly visibleIf?: VisibleIf;
};

/** Of some columns, by name, the rows in which a role sees them; in the others they count as null. */
export type VisibleIf = Readonly<Record<string, Predicate>>;

export type ColumnRef = {
  readonly column: string;
  readonly type: PgType;
  /** A computed field: its value is that of the call, and `column` only names it. */
  readonly call?: FunctionCall;
  /** A value over many rows, and `column` only names it. */
  readonly aggregate?: AggregateRef;
  /** Compared as a value of this type: `_cast`. */
  readonly cast?: PgType;
  /** The value is the result of an expression that is evaluated when it is read: a column of a view or a native query. */
  readonly isComputed?: true;
  /** In rows that do not satisfy this the role sees no value: it is compared as null. */
  readonly visibleIf?: Predicate;
};

export type Operand =
  | Leaf
  /** Several values, as the function of the operator takes them. */
  | { readonly kind: 'arguments'; readonly values: readonly Leaf[] }
  /** `_ceq` and friends: a column of the same row, or of the root table of the whole expression. */
  | {
      readonly kind: 'column';
      readonly column: string;
      readonly scope: 'row' | 'root';
      readonly type: PgType;
    };

export type Predicate =
  /** Always true; also what `{}` means. */
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
  /** A row related through the join satisfies `where` and `filter`, the target's own permission, when there is one:
   *  a `root` operand inside `filter` means the related row, inside `where` the root of the whole expression. */
  | { readonly kind: 'related'; readonly join: Join; readonly where: Predicate; readonly filter?: Predicate }
  /** Like `related`, of the rows that a call returns for the row. */
  | {
      readonly kind: 'called';
      readonly call: FunctionCall;
      readonly where: Predicate;
      readonly filter?: Predicate;
    }
  /** `where` holds, and is evaluated only on rows that satisfy `filter`: resolve/row-barrier.ts. */
  | { readonly kind: 'barrier'; readonly filter: Predicate; readonly where: Predicate }
  /** Some row of an unrelated table satisfies `where`; `root` column operands inside still mean the outermost table. */
  | { readonly kind: 'exists'; readonly table: QualifiedName; readonly where: Predicate };

export const TRUE: Predicate = { kind: 'true' };
export const FALSE: Predicate = { kind: 'false' };

/** Conjunction with `true` folded away and nested `and`s flattened; a `false` anywhere wins. */
export function and(...all: readonly Predicate[]): Predicate {
  const flat = all.flatMap((p) => (p.kind === 'and' ? p.all : p.kind === 'true' ? [] : [p]));
  if (flat.some((p) => p.kind === 'false')) return FALSE;
  return flat.length === 0 ? TRUE : flat.length === 1 ? flat[0]! : { kind: 'and', all: flat };
}

/** Disjunction with `false` folded away; a `true` anywhere wins. No alternatives at all is false. */
export function or(...any: readonly Predicate[]): Predicate {
  const flat = any.flatMap((p) => (p.kind === 'or' ? p.any : p.kind === 'false' ? [] : [p]));
  if (flat.some((p) => p.kind === 'true')) return TRUE;
  return flat.length === 0 ? FALSE : flat.length === 1 ? flat[0]! : { kind: 'or', any: flat };
}

/** Disjunction of alternatives of which some may be the same. */
export function either(any: readonly Predicate[]): Predicate {
  return or(...new Map(any.map((predicate) => [JSON.stringify(predicate), predicate])).values());
}

export function not(predicate: Predicate): Predicate {
  if (predicate.kind === 'true') return FALSE;
  if (predicate.kind === 'false') return TRUE;
  return { kind: 'not', not: predicate };
}

/** The comparison of a value with a leaf or a column. */
export function comparison(left: ColumnRef, operator: OperatorName, right: Operand): Predicate {
  const row: OperatorRow = OPERATORS[operator];
  const isPattern = row.isLikePattern && PATTERN_KINDS.has(right.kind);
  return {
    kind: 'compare',
    left,
    operator,
    right: isPattern ? ({ ...(right as Leaf), isLikePattern: true } as Leaf) : right,
  };
}

/** Leaves that a request, a session or a rule gives. */
const PATTERN_KINDS: ReadonlySet<string> = new Set(['constant', 'session', 'variable']);

/** Carried on from what a role sees to what refers to it. */
export function visibleIfOf({ visibleIf }: { readonly visibleIf?: Predicate | undefined }): {
  readonly visibleIf?: Predicate;
} {
  return visibleIf ? { visibleIf } : {};
}
