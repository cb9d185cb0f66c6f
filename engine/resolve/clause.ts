/** The condition of a permission as a tree of clauses, for an administrator who asks which of them hides a row. A clause is a part of
 *  the condition as it is written, and a predicate over the row of the permission that is true when this part is.
 *  In: BoolExpPart as written. Out: Clause. Raises the errors of bool-exp.ts.
 *  An object relationship leads to at most one row, so its conditions are clauses too. Any other relationship, `_exists` and a function
 *  that returns rows are one clause.
 *  Not here: the truth of a clause (sql/row-truth.ts), what follows from it (why/verdict.ts). */
import type { PathStep } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import {
  type BoolExpPart,
  type FieldPart,
  isLiteral,
  parseBoolExp,
  partBehind,
} from '../metadata/bool-exp.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import { type BoolExpScope, resolvePart } from './bool-exp.ts';
import { type ColumnRef, type Join, type Predicate, TRUE } from './predicate.ts';

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
  return partClause(parseBoolExp(condition), { scope, path: [], joins: [] });
}

function partClause(part: BoolExpPart, outer: Position): Clause {
  const at = { ...outer, path: [...outer.path, ...part.steps] };
  switch (part.kind) {
    case 'all':
    case 'any':
      return clause(part.kind, part, at, () => part.parts.map((inner) => partClause(inner, at)));
    case 'not':
      return clause('not', part, at, () => [partClause(part.part, at)]);
    case 'field':
      return fieldClause(part, at);
    default:
      return clause('condition', part, at, none);
  }
}

function fieldClause(part: FieldPart, at: Position): Clause {
  const related = relatedPosition(part.name, at);
  if (related) {
    const where = partBehind(part);
    // The entries of the object are clauses themselves.
    const parts = where.kind === 'all' && where.written === part.value ? where.parts : [where];
    const inside = () => parts.map((inner) => partClause(inner, related));
    return { ...clause('related', part, at, inside), reaches: within(related.joins, TRUE) };
  }
  const [first, ...more] = operatorsOf(part, at).map(([operator, operand]) => {
    const value = { [operator]: operand };
    const compared = { ...part, written: { [part.name]: value }, value };
    return () => clause('condition', compared, { ...at, path: [...at.path, operator] }, none);
  });
  if (!first) return clause('condition', part, at, none);
  return more.length === 0 ? first() : clause('all', part, at, () => [first, ...more].map((one) => one()));
}

const none = (): readonly Clause[] => [];

/** Returns a clause. What is inside is left out below the nesting limit. */
function clause(
  kind: ClauseKind,
  part: BoolExpPart,
  { scope, path, joins }: Position,
  inside: () => readonly Clause[],
): Clause {
  const own = resolvePart(part, scope);
  const predicate = within(joins, own);
  const isWhole = kind === 'condition' || path.length > MOST_LEVELS;
  const isComparison = own.kind === 'compare' || own.kind === 'is-null';
  return {
    kind: isWhole ? 'condition' : kind,
    path,
    written: part.written,
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

/** Returns the position of the row that an object relationship leads to; undefined for anything else. */
function relatedPosition(key: string, { scope, path, joins }: Position): Position | undefined {
  if (scope.table.columnByName.has(key) || scope.table.computedFields.has(key)) return undefined;
  const relationship = scope.table.relationships.get(key);
  if (relationship?.kind !== 'object' || !relationship.join.isUnique) return undefined;
  const { join } = relationship;
  const table = join.from ? undefined : scope.tables.get(qualifiedKey(join.table));
  return table && { scope: { ...scope, table }, path, joins: [...joins, join] };
}

/** Returns the operators of a column, or of a computed field with one value, with their operands; empty for any other value. */
function operatorsOf(
  { name, value }: FieldPart,
  { scope }: Position,
): readonly (readonly [string, unknown])[] {
  const { columnByName, computedFields } = scope.table;
  const isCompared = columnByName.has(name) || computedFields.get(name)?.returns.kind === 'scalar';
  return isCompared && isRecord(value) && !isLiteral(value) ? Object.entries(value) : [];
}
