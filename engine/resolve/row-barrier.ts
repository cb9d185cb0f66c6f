/** Conditions of a request behind the row filter of a role. Postgres evaluates the conditions of a query in the order it finds
 *  cheapest, so a condition that raises an error could be evaluated on a row the filter hides, and the error would reveal
 *  that row. Such conditions are put behind a barrier: they are evaluated only on rows that pass the filter. Conditions that
 *  cannot raise stay beside the filter, where indexes serve them.
 *  In: predicates. Out: predicates, or the answer to "may it raise?". Not here: the SQL of a barrier (sql/bool-exp.ts).
 *  PostgreSQL manual, "Expression Evaluation Rules" and "Rules and Privileges". */
import { OPERATORS, type OperatorRow } from '../catalog/operators.ts';
import { isOfExtension, scalarOf } from '../catalog/scalars.ts';
import type { PgType } from '../catalog/types.ts';
import { type AggregateRef, and, type ColumnRef, type Operand, type Predicate, TRUE } from './predicate.ts';

/** Rows that pass both; `where` cannot reveal anything about rows that `filter` hides. */
export function filtered(filter: Predicate, where: Predicate): Predicate {
  if (filter.kind === 'true' || filter.kind === 'false') return and(filter, where);
  const { safe, unsafe } = split(where);
  if (unsafe.kind === 'true') return and(filter, where);
  return and(filter, safe, { kind: 'barrier', filter, where: unsafe });
}

/** Like `filtered` when every column of the rows may be an expression: rows that a function returns. */
export function filteredWhole(filter: Predicate, where: Predicate): Predicate {
  if (filter.kind === 'true' || filter.kind === 'false' || where.kind === 'true') return and(filter, where);
  return and(filter, { kind: 'barrier', filter, where });
}

/** The parts of a conjunction that cannot raise, and those that may. */
export function split(where: Predicate): { readonly safe: Predicate; readonly unsafe: Predicate } {
  const parts = where.kind === 'and' ? where.all : [where];
  return {
    safe: and(...parts.filter((part) => !mayRaise(part))),
    unsafe: and(...parts.filter(mayRaise)),
  };
}

/** True when evaluating the predicate on a row may raise an error. */
export function mayRaise(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return false;
    case 'and':
      return predicate.all.some(mayRaise);
    case 'or':
      return predicate.any.some(mayRaise);
    case 'not':
      return mayRaise(predicate.not);
    case 'compare': {
      const { left, operator, right } = predicate;
      const row: OperatorRow = OPERATORS[operator];
      return row.mayRaise === true || valueMayRaise(left) || !isTrusted(left.type) || operandMayRaise(right);
    }
    case 'is-null':
      return valueMayRaise(predicate.left);
    case 'related':
      return mayRaise(predicate.where) || mayRaise(predicate.filter ?? TRUE);
    case 'exists':
      return mayRaise(predicate.where);
    // A call of a function, and what has been put behind a barrier before.
    case 'called':
    case 'barrier':
      return true;
    default:
      return predicate satisfies never;
  }
}

/** True when comparisons of the type's values never raise: types of Postgres itself and of extensions the engine knows. */
export function isTrusted(type: PgType): boolean {
  if (type.element) return isTrusted(type.element);
  if (type.base) return isTrusted(type.base);
  if (type.kind === 'enum') return true;
  return (type.schema === 'pg_catalog' && type.kind !== 'composite') || isOfExtension(type);
}

function valueMayRaise({ call, aggregate, cast, isComputed, visibleIf }: ColumnRef): boolean {
  if (call || isComputed) return true;
  if (cast && cast.name !== 'text') return true;
  return mayRaise(visibleIf ?? TRUE) || (aggregate !== undefined && aggregateMayRaise(aggregate));
}

/** Sums and statistics may overflow. */
const CANNOT_OVERFLOW: readonly AggregateRef['fn'][] = ['count', 'max', 'min', 'bool_and', 'bool_or'];

function aggregateMayRaise({ fn, where, filter = TRUE }: AggregateRef): boolean {
  return !CANNOT_OVERFLOW.includes(fn) || mayRaise(where) || mayRaise(filter);
}

/** Postgres reads a parameter before the first row, but GeoJSON and lists of arrays are read by functions, for each row. */
function operandMayRaise(operand: Operand): boolean {
  if (operand.kind === 'arguments') return true;
  if (operand.kind === 'column') return false;
  const { element } = operand.type;
  return element?.element != null || scalarOf(element ?? operand.type).input === 'geojson';
}
