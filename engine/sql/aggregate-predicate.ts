/** A value over many rows that a condition compares: of the rows related to one, or of the rows of one group.
 *  Not here: values that are answered (aggregate.ts). PostgreSQL manual, "Aggregate Expressions". */

import { own } from '../metadata/own.ts';
import type { AggregateRef } from '../resolve/predicate.ts';
import { condition, isTrue, matches, reached, shown, whereClause } from './bool-exp.ts';
import { comma, type Fragment, id, join, qualified, sql } from './fragment.ts';
import { columnOf, type Scope } from './scope.ts';

/** `fn` is one of AGGREGATE_PREDICATES, all of them names that need no quoting. */
const FUNCTIONS: Readonly<Record<AggregateRef['fn'], Fragment>> = {
  avg: sql`avg`,
  bool_and: sql`bool_and`,
  bool_or: sql`bool_or`,
  corr: sql`corr`,
  count: sql`count`,
  covar_samp: sql`covar_samp`,
  max: sql`max`,
  min: sql`min`,
  stddev_samp: sql`stddev_samp`,
  sum: sql`sum`,
  var_samp: sql`var_samp`,
};

export function aggregateValue(ref: AggregateRef, scope: Scope): Fragment {
  if (ref.join === null) {
    const where = condition(ref.where, scope);
    return isTrue(where) ? call(ref, scope) : sql`${call(ref, scope)} filter (where ${where})`;
  }
  const row = scope.aliases.next();
  const where = whereClause([matches(ref.join, scope.row, row), ...reached(ref, { ...scope, row })]);
  return sql`(select ${call(ref, { ...scope, row })} from ${qualified(ref.join.table)} ${id(row)}${where})`;
}

function call({ fn, columns, isDistinct, visibleIf }: AggregateRef, { row, aliases }: Scope): Fragment {
  const values = columns.map((column) => shown(columnOf(row, column), own(visibleIf, column), row, aliases));
  const [first] = values;
  if (!first) return sql`count(*)`;
  // Only `count` takes several values as one; of two, the statistics take each for itself.
  const isOne = fn === 'count' && values.length > 1;
  const given = isOne ? sql`(${join(values, comma)})` : join(values, comma);
  return isDistinct ? sql`${FUNCTIONS[fn]}(distinct ${given})` : sql`${FUNCTIONS[fn]}(${given})`;
}
