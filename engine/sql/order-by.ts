/** ORDER BY and DISTINCT ON. Items through object relationships need joins of their own, which are returned with them.
 *  In: OrderItems over one alias. Out: joins and ordered expressions. PostgreSQL manual, "Sorting Rows". */
import type { OrderItem } from '../plan/types.ts';
import { condition } from './bool-exp.ts';
import { comma, type Fragment, id, join, sql } from './fragment.ts';
import { leftJoin } from './join.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

export type Ordering = {
  readonly joins: readonly Fragment[];
  readonly terms: readonly { readonly value: Fragment; readonly direction: Fragment }[];
};

const DIRECTIONS = {
  asc: { first: sql` asc nulls first`, last: sql` asc` },
  desc: { first: sql` desc`, last: sql` desc nulls last` },
} as const;

export function ordering(items: readonly OrderItem[], alias: string, aliases: Aliases): Ordering {
  const joins: Fragment[] = [];
  const terms = items.map((item) => {
    let row = alias;
    for (const step of item.path) {
      const next = aliases.next();
      joins.push(leftJoin(step.join, row, next, condition(step.filter, rowScope(next, aliases))));
      row = next;
    }
    return { value: columnOf(row, item.column), direction: DIRECTIONS[item.direction][item.nulls] };
  });
  return { joins, terms };
}

/** ` order by …`, or nothing. */
export function orderClause(terms: Ordering['terms']): Fragment {
  if (terms.length === 0) return sql``;
  return sql` order by ${join(
    terms.map((term) => sql`${term.value}${term.direction}`),
    comma,
  )}`;
}

export function distinctClause(columns: readonly string[], alias: string): Fragment {
  if (columns.length === 0) return sql``;
  return sql`distinct on (${join(
    columns.map((column) => columnOf(alias, column)),
    comma,
  )}) `;
}

/** Order values carried out of a limited subquery under names no column has. */
export const carried = (index: number): Fragment => id(`order ${index}`);
