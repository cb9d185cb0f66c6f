/** `order_by` and `distinct_on` arguments → OrderItems and columns. An order by a row of another table conjoins the role's
 *  filter on that table: rows the role may not read sort like missing ones. Reference: docs/reference/behaviour/queries.md. */
import { scalarOf } from '../catalog/scalars.ts';
import { builtinType, type PgType } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { visibleIfOf } from '../resolve/predicate.ts';
import { isTrusted } from '../resolve/row-barrier.ts';
import { DIRECTIONS } from '../schema/order-by.ts';
import { type InputOrigin, inputOrigin } from '../schema/origin.ts';
import type { PlanContext } from './context.ts';
import { planCallBeside } from './function.ts';
import { type Input, itemsOf } from './input.ts';
import type { AggregateValue, OrderAggregate, OrderItem } from './query-types.ts';
import { CONDITION_WEIGHT } from './selection-size.ts';

type Step = OrderItem['path'][number];

/** An item of the order with its properties in a cursor: the names that lead to it, and its type. */
export type NamedOrder = {
  readonly item: OrderItem;
  readonly names: readonly string[];
  readonly type: PgType;
  readonly isNullable: boolean;
  /** True when evaluating or comparing the value may raise an error. */
  readonly mayRaise: boolean;
};

export function planOrderBy(input: Input | undefined, context: PlanContext): OrderItem[] {
  return planNamedOrder(input, context).map(({ item }) => item);
}

export function planNamedOrder(input: Input | undefined, context: PlanContext): NamedOrder[] {
  return itemsOf(input).flatMap((item) => orderItems(item, { path: [], names: [] }, context));
}

/** A position in an `order_by` argument: the rows reached, and the names that lead there. */
type Place = { readonly path: readonly Step[]; readonly names: readonly string[] };

function orderItems(input: Input, { path, names }: Place, context: PlanContext): NamedOrder[] {
  if (input.kind !== 'object') return [];
  context.inputs.count(CONDITION_WEIGHT);
  return [...input.fields].flatMap(([name, value]) =>
    withPath(name, (): NamedOrder[] => {
      const origin = inputOrigin(input.type.getFields()[name]!);
      const named = [...names, name];
      if (origin.kind === 'relationship') {
        return orderItems(value, { path: [...path, stepTo(origin, context)], names: named }, context);
      }
      if (origin.kind === 'relationship-aggregate' || origin.kind === 'computed-aggregate') {
        return aggregateItems(value, name, { path, names: named }, rowsOf(origin, value, context));
      }
      const ordering = value.kind === 'object' ? value.fields.get('ordering') : value;
      if (ordering?.kind !== 'enum') return [];
      const { direction, nulls } = directionOf(ordering.value);
      if (origin.kind === 'column') {
        const { column } = origin;
        const item = { path, column: column.name, direction, nulls, ...visibleIfOf(column) };
        return [{ item, names: named, ...cursorFacts(column, path.length > 0) }];
      }
      if (origin.kind !== 'computed' || origin.field.returns.kind !== 'scalar') return [];
      const call = planCallBeside(value, origin.field, origin.table);
      const item = { path, column: origin.field.name, call, direction, nulls, ...visibleIfOf(origin.field) };
      return [{ item, names: named, type: origin.field.returns.type, isNullable: true, mayRaise: true }];
    }),
  );
}

/** Returns the properties of a column that a cursor depends on. `isJoined`: it belongs to another row, which may be missing. */
export function cursorFacts(
  column: ResolvedColumn,
  isJoined = false,
): Pick<NamedOrder, 'type' | 'isNullable' | 'mayRaise'> {
  const { type, isComputed = false } = column;
  return { type, isNullable: isJoined || mayBeNull(column), mayRaise: isComputed || !isTrusted(type) };
}

/** Returns true for nullable columns and for declared columns of logical models, because the database does not enforce the
 *  declaration. */
function mayBeNull({ isNullable, isDeclared, visibleIf }: ResolvedColumn): boolean {
  return isNullable || isDeclared === true || visibleIf !== undefined;
}

function stepTo(
  { relationship, target }: { relationship: { join: Step['join'] }; target: ResolvedTable },
  context: PlanContext,
): Step {
  return { join: relationship.join, filter: context.filterOf(target) };
}

type AggregateOrigin = Extract<InputOrigin, { kind: 'relationship-aggregate' | 'computed-aggregate' }>;
type Rows = Omit<OrderAggregate, 'value'>;

function rowsOf(origin: AggregateOrigin, input: Input, context: PlanContext): Rows {
  const filter = context.filterOf(origin.target);
  if (origin.kind === 'relationship-aggregate') {
    return { rows: { kind: 'related', join: origin.relationship.join }, filter };
  }
  return { rows: { kind: 'called', call: planCallBeside(input, origin.field, origin.table) }, filter };
}

function aggregateItems(input: Input, column: string, { path, names }: Place, rows: Rows): NamedOrder[] {
  return aggregateOrders(input).map(({ value, direction, nulls }) => {
    const item = { path, column, aggregate: { ...rows, value }, direction, nulls };
    const own = value.kind === 'count' ? ['count'] : [value.fn, value.column];
    return { item, names: [...names, ...own], type: typeOver(value), isNullable: true, mayRaise: true };
  });
}

/** Returns the type of an aggregate in Postgres, or a type that can represent it. */
function typeOver(value: AggregateValue): PgType {
  if (value.kind === 'count') return builtinType('int8');
  const { fn, type } = value;
  const real = type.base ?? type;
  const isOwn = fn === 'max' || fn === 'min' || (fn === 'sum' && real.name === 'float4');
  return isOwn || scalarOf(type).family !== 'number' ? type : builtinType('numeric');
}

type Directed = Pick<OrderItem, 'direction' | 'nulls'>;
type AggregateOrder = Directed & { readonly value: AggregateValue };

/** Returns the orders in `{count: desc, max: {id: asc}}`. */
export function aggregateOrders(input: Input): AggregateOrder[] {
  return inputFields(input).flatMap(({ origin, value: given }): AggregateOrder[] => {
    if (origin.kind === 'count' && given.kind === 'enum') {
      const value: AggregateValue = { kind: 'count', columns: [], isDistinct: false };
      return [{ value, ...directionOf(given.value) }];
    }
    if (origin.kind !== 'aggregate-function') return [];
    return inputFields(given).flatMap((inner) => {
      if (inner.origin.kind !== 'column' || inner.value.kind !== 'enum') return [];
      const { name, type, json } = inner.origin.column;
      const visibility = visibleIfOf(inner.origin.column);
      const value: AggregateValue = {
        kind: 'function',
        fn: origin.fn,
        column: name,
        type,
        json,
        ...visibility,
      };
      return [{ value, ...directionOf(inner.value.value) }];
    });
  });
}

/** Returns the fields of an input object with their origins. */
export function inputFields(input: Input): { readonly origin: InputOrigin; readonly value: Input }[] {
  if (input.kind !== 'object') return [];
  return [...input.fields].map(([name, value]) => {
    return { origin: inputOrigin(input.type.getFields()[name]!), value };
  });
}

export function directionOf(name: string): Directed {
  const { direction, nulls } = DIRECTIONS[name]!;
  return { direction, nulls };
}

/** Returns the columns of `distinct_on` by SQL name. They must be the first columns of the order, if there is one. Raises
 *  `distinctNotLeading`. */
export function planDistinctOn(input: Input | undefined, orderBy: readonly OrderItem[]): string[] {
  if (!input || input.kind === 'null') return [];
  const items = input.kind === 'list' ? input.items : [input];
  const columns = [...new Set(items.flatMap((item) => (item.kind === 'enum' ? [item.value] : [])))];
  const leading = orderBy.slice(0, columns.length);
  const own = leading.filter(({ path, call, aggregate }) => path.length === 0 && !call && !aggregate);
  const matches = columns.every((column) => own.some((item) => item.column === column));
  if (orderBy.length > 0 && !matches) fail('distinctNotLeading', {});
  return columns;
}
