/** The condition of a permission as a tree of clauses, for an administrator who asks which of them hides a row. A clause is a part of
 *  the condition as it is written, and a predicate over the row of the permission that is true when this part is.
 *  In: BoolExp as written. Out: Clause. Raises the errors of bool-exp.ts.
 *  An object relationship leads to at most one row, so its conditions are clauses too. Any other relationship, `_exists` and a function
 *  that returns rows are one clause.
 *  Not here: the truth of a clause (sql/row-truth.ts), what follows from it (admin/explain-access/verdict.ts). */
import type { PathStep } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import { connectiveOf } from '../metadata/bool-exp.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import { type BoolExpScope, resolveBoolExp } from './bool-exp.ts';
import { type ColumnRef, type Join, type Predicate, TRUE } from './predicate.ts';
import { isLiteral } from './session.ts';

/** How the clauses inside a clause decide it. `all`: each must hold. `any`: one must. `not`: its only one must not. `related`: each must
 *  hold of the related row. `condition`: there are none inside. */
export type ClauseKind = 'all' | 'any' | 'not' | 'related' | 'condition';

export type Clause = {
  readonly kind: ClauseKind;
  /** The path from the condition of the permission to this part. */
  readonly path: readonly PathStep[];
  /** This part as it is written: `{"owner_id": {"_eq": "X-Engine-User-Id"}}`. */
  readonly written: unknown;
  /** True of a row of the permission's table when this part holds. */
  readonly predicate: Predicate;
  /** The value that a `condition` compares; null when it is not about one value. */
  readonly compared: ComparedValue | null;
  /** True when there is a related row; null when the clause is not `related`. */
  readonly reaches: Predicate | null;
  readonly clauses: readonly Clause[];
};

/** A value of the row, or of the row at the end of object relationships. */
export type ComparedValue = { readonly joins: readonly Join[]; readonly left: ColumnRef };

/** The table that a part of the condition is about, and the relationships that lead there. */
type Position = {
  readonly scope: BoolExpScope;
  readonly path: readonly PathStep[];
  readonly joins: readonly Join[];
};

/** The nesting limit of clauses. What is nested deeper is part of the clause around it. */
const MOST_LEVELS = 20;

/** Returns the clauses of a condition of a permission. */
export function clauseOf(condition: unknown, scope: BoolExpScope): Clause {
  return objectClause(condition, { scope, path: [], joins: [] });
}

function objectClause(written: unknown, at: Position): Clause {
  const entries = Object.entries(isRecord(written) ? written : {});
  const [only, ...more] = entries;
  if (only && more.length === 0) return entryClause(only[0], only[1], at);
  return clause('all', written, at, () => entries.map(([key, item]) => entryClause(key, item, at)));
}

function entryClause(key: string, item: unknown, outer: Position): Clause {
  const written = { [key]: item };
  const at = { ...outer, path: [...outer.path, key] };
  switch (connectiveOf(key)) {
    case 'and':
      return clause('all', written, at, () => listed(item, at));
    case 'or':
      return clause('any', written, at, () => listed(item, at));
    case 'not':
      return clause('not', written, at, () => [objectClause(item, at)]);
  }
  const related = relatedPosition(key, at);
  if (related) {
    const reaches = within(related.joins, TRUE);
    return { ...clause('related', written, at, () => parts(item, related)), reaches };
  }
  if (isOperations(key, item, outer)) {
    const operators = Object.entries(item);
    const each = ([operator, operand]: [string, unknown]) =>
      clause('condition', { [key]: { [operator]: operand } }, { ...at, path: [...at.path, operator] }, none);
    if (operators.length === 1) return each(operators[0]!);
    return clause('all', written, at, () => operators.map(each));
  }
  return clause('condition', written, at, none);
}

const none = (): readonly Clause[] => [];

/** Returns a clause. What is inside is left out below the nesting limit. */
function clause(
  kind: ClauseKind,
  written: unknown,
  { scope, path, joins }: Position,
  inside: () => readonly Clause[],
): Clause {
  const own = resolveBoolExp(written, scope);
  const predicate = within(joins, own);
  const isWhole = kind === 'condition' || path.length > MOST_LEVELS;
  const isComparison = own.kind === 'compare' || own.kind === 'is-null';
  return {
    kind: isWhole ? 'condition' : kind,
    path,
    written,
    predicate,
    compared: isWhole && isComparison ? { joins, left: own.left } : null,
    reaches: null,
    clauses: isWhole ? [] : inside(),
  };
}

/** Returns the predicate over the first row that is true when `own` is true of the row at the end of the joins. */
function within(joins: readonly Join[], own: Predicate): Predicate {
  return joins.reduceRight<Predicate>((where, join) => ({ kind: 'related', join, where }), own);
}

/** Returns the clauses of a list of conditions; a single object is a list of one, as in bool-exp.ts. */
function listed(value: unknown, at: Position): readonly Clause[] {
  if (!Array.isArray(value)) return [objectClause(value, at)];
  return value.map((item, i) => objectClause(item, { ...at, path: [...at.path, i] }));
}

/** Returns the clauses of an object, one for each entry. */
function parts(value: unknown, at: Position): readonly Clause[] {
  return Object.entries(isRecord(value) ? value : {}).map(([key, item]) => entryClause(key, item, at));
}

/** Returns the position of the row that an object relationship leads to; undefined for anything else. */
function relatedPosition(key: string, { scope, path, joins }: Position): Position | undefined {
  if (scope.table.columnByName.has(key) || scope.table.computedFields.has(key)) return undefined;
  const relationship = scope.table.relationships.get(key);
  if (relationship?.kind !== 'object' || !relationship.join.isUnique) return undefined;
  const { join } = relationship;
  const table = join.from ? undefined : scope.tables.get(qualifiedKey(join.table));
  return table && { scope: { ...scope, table }, path, joins: [...joins, join] };
}

/** True for `{operator: operand, …}` of a column or of a computed field with one value. */
function isOperations(
  key: string,
  item: unknown,
  { scope }: Position,
): item is Readonly<Record<string, unknown>> {
  if (!isRecord(item) || isLiteral(item) || Object.keys(item).length === 0) return false;
  const { columnByName, computedFields } = scope.table;
  return columnByName.has(key) || computedFields.get(key)?.returns.kind === 'scalar';
}
