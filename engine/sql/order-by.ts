/** ORDER BY and DISTINCT ON. Items through object relationships add joins to the query's Joins. In: OrderItems over one alias.
 *  Out: expressions with directions. Not here: which order (plan/order-by.ts). PostgreSQL manual, "Sorting Rows". */

import { own } from '../metadata/own.ts';
import type { OrderItem, Select } from '../plan/query-types.ts';
import { visibleIfOf } from '../resolve/predicate.ts';
import { aggregateOver } from './aggregate-value.ts';
import { valueOfRef, visibleOrNull } from './bool-exp.ts';
import { comma, empty, type Fragment, id, join, sql } from './fragment.ts';
import type { Joins } from './join.ts';
import { columnOf, rowScope } from './scope.ts';

export type OrderTerm = {
  readonly value: Fragment;
  readonly direction: Fragment;
  /** The row's own column, or the name under which a subquery returns a joined or computed value. */
  readonly name: string;
  readonly isJoined: boolean;
};

/** Directions as SQL. Postgres's defaults are omitted: `asc` puts nulls last, `desc` first. */
const DIRECTIONS = {
  asc: { first: sql` nulls first`, last: empty },
  desc: { first: sql` desc`, last: sql` desc nulls last` },
} as const;

/** Returns the direction as it follows the value. */
export function directed(direction: OrderItem['direction'], nulls: OrderItem['nulls']): Fragment {
  return DIRECTIONS[direction][nulls];
}

export function orderTerms(items: readonly OrderItem[], alias: string, joins: Joins): readonly OrderTerm[] {
  return items.map((item, i) => {
    const row = item.path.reduce((local, step) => joins.to(step.join, local, step.filter), alias);
    const isJoined = !isOwnColumn(item) || item.visibleIf !== undefined;
    return {
      value: orderValue(item, row, joins),
      direction: directed(item.direction, item.nulls),
      name: isJoined ? `order ${i}` : item.column,
      isJoined,
    };
  });
}

/** Returns the value to order by. A missing joined row has no aggregate or computed value, not even a zero. */
function orderValue(item: OrderItem, row: string, joins: Joins): Fragment {
  const { path, column, call, aggregate } = item;
  const value = aggregate
    ? aggregateOver(aggregate, row, joins.aliases)
    : valueOfRef({ column, ...(call ? { call } : {}), ...visibleIfOf(item) }, rowScope(row, joins.aliases));
  const last = path.at(-1);
  const isComputed = call !== undefined || aggregate !== undefined;
  if (!last || !isComputed) return value;
  return sql`case when ${columnOf(row, last.join.mapping[0]![1])} is not null then ${value} end`;
}

/** Returns ` order by …`, or nothing without terms. */
export function orderClause(terms: readonly Pick<OrderTerm, 'value' | 'direction'>[]): Fragment {
  if (terms.length === 0) return empty;
  return sql` order by ${join(
    terms.map((term) => sql`${term.value}${term.direction}`),
    comma,
  )}`;
}

/** Returns joined order values as additional columns of a subquery: `, "t1"."name" as "order 0"`. */
export function carriedColumns(terms: readonly OrderTerm[]): Fragment {
  const carried = terms.filter((term) => term.isJoined);
  return join(
    carried.map((term) => sql`, ${term.value} as ${id(term.name)}`),
    empty,
  );
}

/** Returns the terms as values that a subquery carries, those of own columns as well. */
export function allCarried(terms: readonly Pick<OrderTerm, 'value' | 'direction'>[]): readonly OrderTerm[] {
  return terms.map((term, i) => ({ ...term, name: `order ${i}`, isJoined: true }));
}

/** Returns the same order for use outside the subquery that carries its values. */
export function outside(terms: readonly OrderTerm[], alias: string): readonly OrderTerm[] {
  return terms.map((term) => ({ ...term, value: columnOf(alias, term.name) }));
}

/** Returns DISTINCT ON with the same expressions that the order begins with, as Postgres requires. */
export function distinctClause(
  { distinctOn, visibleIf = {}, orderBy }: Pick<Select, 'distinctOn' | 'visibleIf' | 'orderBy'>,
  alias: string,
  { terms, joins }: { readonly terms: readonly OrderTerm[]; readonly joins: Joins },
): Fragment {
  if (distinctOn.length === 0) return empty;
  const values = distinctOn.map((column) => {
    const term = terms[orderBy.findIndex((item) => isOwnColumn(item) && item.column === column)];
    return (
      term?.value ?? visibleOrNull(columnOf(alias, column), own(visibleIf, column), alias, joins.aliases)
    );
  });
  return sql`distinct on (${join(values, comma)}) `;
}

function isOwnColumn({ path, call, aggregate }: OrderItem): boolean {
  return path.length === 0 && call === undefined && aggregate === undefined;
}
