/** `T_group_by` → which rows, the columns to group by, which groups, in what order, and the aggregates of each. The role's row
 *  filter decides which rows are grouped; its row limit is the maximum number of groups. Raises `validationFailed` when a
 *  column that is not a key is selected or ordered by. Why it looks like this: ADR 7. */
import type { GraphQLObjectType } from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { and, not, or, type Predicate, TRUE } from '../resolve/predicate.ts';
import { filtered } from '../resolve/row-barrier.ts';
import { fieldOrigin, inputOrigin } from '../schema/origin.ts';
import { aggregateMembers, columnsOf } from './aggregate.ts';
import { readArguments } from './arguments.ts';
import { objectOf, planAggregatePredicate, planOptional } from './bool-exp.ts';
import type { PlanContext, SelectedField, SelectedNodes } from './context.ts';
import { countOf, limitOf } from './count.ts';
import { type Input, refuseNull } from './input.ts';
import { aggregateOrders, directionOf, inputFields } from './order-by.ts';
import type { Field, GroupField, GroupOrder, Groups } from './query-types.ts';
import { selectedFields, subselections } from './selection.ts';
import { objectTypeOf, planMembers, printedAs } from './table.ts';

type Keys = readonly string[];

export function planGroups(table: ResolvedTable, at: SelectedNodes, context: PlanContext): Groups {
  const given = readArguments(at, context);
  const keys = [...new Set(columnsOf(given.get('keys')))];
  const { order_by } = table.naming.names;
  const having = given.get('having');
  const rowArguments = withPath('args', () => ({
    having:
      having && having.kind !== 'null' ? withPath('having', () => planHaving(having, table, context)) : TRUE,
    orderBy: withPath(order_by, () => planGroupOrder(given.get(order_by), keys)),
    limit: withPath('limit', () => limitOf(given, context.select(table)?.limit ?? null, context)),
    offset: withPath('offset', () => countOf(given.get('offset'), context)),
    where: withPath('where', () => planOptional(given.get('where'), context)),
  }));
  const type = objectTypeOf(at.field);
  const output = withPath('selectionSet', () =>
    selectedFields(subselections(at.nodes), type, context).map((selected) =>
      groupField(selected, { table, type, keys }, context),
    ),
  );
  const where = filtered(context.filterOf(table), rowArguments.where);
  return { table: table.table, keys, ...context.visibleIf(table, keys), ...rowArguments, where, output };
}

function groupField(
  { alias, name, nodes, field }: SelectedField,
  { table, type, keys }: { table: ResolvedTable; type: GraphQLObjectType; keys: Keys },
  context: PlanContext,
): GroupField {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  return withPath(name, () => {
    if (fieldOrigin(field).kind === 'aggregate')
      return { kind: 'values', alias, members: aggregateMembers(table, { field, nodes }, context) };
    const fields = planMembers({ field, nodes }, context, (selected, inner) =>
      keyField(selected, inner, keys),
    );
    return { kind: 'keys', alias, fields };
  });
}

function keyField({ alias, field }: SelectedField, type: GraphQLObjectType, keys: Keys): Field {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  const origin = fieldOrigin(field);
  if (origin.kind !== 'column') throw new Error(`${origin.kind} is no key of a group`);
  const column = keyOf(origin.column, keys);
  return { kind: 'column', alias, column, ...printedAs(origin.column), path: null };
}

function keyOf({ name, graphqlName }: ResolvedColumn, keys: Keys): string {
  if (keys.includes(name)) return name;
  return fail('validationFailed', { text: `rows are not grouped by '${graphqlName}'` });
}

function planHaving(input: Input, table: ResolvedTable, context: PlanContext): Predicate {
  const object = objectOf(input);
  return and(
    ...[...object.fields].map(([name, value]) => {
      switch (inputOrigin(object.type.getFields()[name]!).kind) {
        case 'and':
          return and(...withPath(name, () => each(value, table, context)));
        case 'or':
          return or(...withPath(name, () => each(value, table, context)));
        case 'not':
          return not(withPath(name, () => planHaving(value, table, context)));
        default:
          return planAggregatePredicate(name, object, { join: null, table }, context);
      }
    }),
  );
}

function each(value: Input, table: ResolvedTable, context: PlanContext): Predicate[] {
  if (value.kind !== 'list') return refuseNull(value);
  return value.items.map((item, i) => withPath(i, () => planHaving(item, table, context)));
}

function planGroupOrder(input: Input | undefined, keys: Keys): GroupOrder[] {
  const items = input?.kind === 'list' ? input.items : [];
  return items.flatMap(inputFields).flatMap(({ origin, value }): GroupOrder[] => {
    if (origin.kind === 'group-aggregate') {
      return aggregateOrders(value).map(({ value: by, ...direction }) => {
        return { by: { kind: 'aggregate', value: by }, ...direction };
      });
    }
    return inputFields(value).flatMap((key): GroupOrder[] => {
      if (key.origin.kind !== 'column' || key.value.kind !== 'enum') return [];
      const column = keyOf(key.origin.column, keys);
      return [{ by: { kind: 'key', column }, ...directionOf(key.value.value) }];
    });
  });
}
