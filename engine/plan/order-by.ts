/** `order_by` and `distinct_on` arguments → OrderItems and columns. Ordering by a row of another table conjoins what the
 *  role may see of it: hidden rows order like absent ones. Reference: features.md rows 21–26. */
import { fail, withPath } from '../errors/engine-error.ts';
import type { ResolvedTable } from '../resolve/types.ts';
import { DIRECTIONS } from '../schema/order-by.ts';
import { inputOrigin } from '../schema/origin.ts';
import type { PlanContext } from './context.ts';
import { planPlainCall } from './function.ts';
import type { Input } from './input.ts';
import type { OrderItem } from './types.ts';

type Step = OrderItem['path'][number];

export function planOrderBy(input: Input | undefined, context: PlanContext): OrderItem[] {
  if (!input || input.kind === 'null') return [];
  const items = input.kind === 'list' ? input.items : [input];
  return items.flatMap((item) => orderItems(item, [], context));
}

function orderItems(input: Input, path: readonly Step[], context: PlanContext): OrderItem[] {
  if (input.kind !== 'object') return [];
  return [...input.fields].flatMap(([name, value]) =>
    withPath(name, () => {
      const origin = inputOrigin(input.type.getFields()[name]!);
      if (origin.kind === 'relationship') {
        return orderItems(value, [...path, stepTo(origin, context)], context);
      }
      if (value.kind !== 'enum') return [];
      const { direction, nulls } = DIRECTIONS[value.value]!;
      if (origin.kind === 'column') return [{ path, column: origin.column.name, direction, nulls }];
      if (origin.kind !== 'computed') return [];
      const call = planPlainCall(origin.field, origin.table);
      return [{ path, column: origin.field.name, call, direction, nulls }];
    }),
  );
}

function stepTo(
  { relationship, target }: { relationship: { join: Step['join'] }; target: ResolvedTable },
  context: PlanContext,
): Step {
  return { join: relationship.join, filter: context.filterOf(target) };
}

/** Columns by SQL name. Where there is an order, they must be what it begins with. Raises `distinctNotLeading`. */
export function planDistinctOn(input: Input | undefined, orderBy: readonly OrderItem[]): string[] {
  if (!input || input.kind === 'null') return [];
  const items = input.kind === 'list' ? input.items : [input];
  const columns = [...new Set(items.flatMap((item) => (item.kind === 'enum' ? [item.value] : [])))];
  const leading = orderBy.slice(0, columns.length);
  const matches = leading.every(
    (item) => item.path.length === 0 && !item.call && columns.includes(item.column),
  );
  if (
    orderBy.length > 0 &&
    !(
      matches && new Set(leading.map((item) => item.column)).size === Math.min(columns.length, orderBy.length)
    )
  ) {
    fail('distinctNotLeading', {});
  }
  return columns;
}
