/** Row barriers keep conditions of a request from revealing rows that the filter of a role hides. Postgres evaluates conditions in
 *  the order it estimates as cheapest, so a condition that raises an error could be evaluated on a hidden row, and the error would
 *  reveal it. A barrier evaluates such conditions only on rows that pass the filter. Conditions that cannot raise stay next to the
 *  filter, where Postgres can use indexes for them.
 *  In: predicates. Out: predicates, or the answer to "may it raise?". Not here: the SQL of a barrier (sql/bool-exp.ts).
 *  PostgreSQL manual, "Expression Evaluation Rules" and "Rules and Privileges". */
import { OPERATORS, type OperatorRow } from '../catalog/operators.ts';
import { isOfExtension, scalarOf } from '../catalog/scalars.ts';
import type { PgType } from '../catalog/types.ts';
import { type AggregateRef, and, type ColumnRef, type Operand, type Predicate, TRUE } from './predicate.ts';

/** Returns the rows that satisfy both. `where` reveals nothing about rows that `filter` hides. */
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

/** Splits a conjunction into the parts that cannot raise an error and those that may. */
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
    // Functions may raise, and so may conditions that are behind a barrier already.
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

/** The aggregates that never raise. Sums and statistics may overflow. */
const CANNOT_OVERFLOW: readonly AggregateRef['fn'][] = ['count', 'max', 'min', 'bool_and', 'bool_or'];

function aggregateMayRaise({ fn, where, filter = TRUE }: AggregateRef): boolean {
  return !CANNOT_OVERFLOW.includes(fn) || mayRaise(where) || mayRaise(filter);
}

/** True when reading the operand may raise for a row. Postgres reads parameters before the first row, but GeoJSON and lists of
 *  arrays are read by functions, once for each row. */
function operandMayRaise(operand: Operand): boolean {
  if (operand.kind === 'arguments') return true;
  if (operand.kind === 'column') return false;
  const { element } = operand.type;
  return element?.element != null || scalarOf(element ?? operand.type).input === 'geojson';
}
