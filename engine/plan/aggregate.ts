/** A selection on `T_aggregate` → the rows to aggregate, the aggregates to return, and the nodes to list. The role's row
 *  filter applies to all of it. The role's row limit applies to the nodes only: an aggregate over an arbitrary part of the
 *  rows would be meaningless. Not here: orders by aggregates (order-by.ts). Reference: docs/reference/behaviour/aggregates.md,
 *  docs/reference/behaviour/permissions.md. */
import type { GraphQLObjectType } from 'graphql';
import type { AggregateFunction } from '../catalog/aggregates.ts';
import { withPath } from '../errors/engine-error.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { type FunctionCall, visibleIfOf } from '../resolve/predicate.ts';
import { fieldOrigin } from '../schema/origin.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext, SelectedField, SelectedNodes } from './context.ts';
import { limitOf } from './count.ts';
import { planCall } from './function.ts';
import { type Arguments, type Input, valueByValue } from './input.ts';
import type { Aggregate, AggregateField, AggregateMember, AggregateValue } from './query-types.ts';
import { selectedFields, subselections } from './selection.ts';
import { objectTypeOf, planMembers, planRowArguments, planSelection } from './table.ts';

/** Plans an aggregate over rows of the table, or over the rows that `from` returns. */
export function planAggregate(
  table: ResolvedTable,
  at: SelectedNodes,
  context: PlanContext,
  from?: FunctionCall,
): Aggregate {
  const given = readArguments(at, context);
  const { limit: nodesLimit, ...rowArguments } = withPath('args', () =>
    planRowArguments(table, given, context, from),
  );
  const limit = limitOf(given, null, context);
  const type = objectTypeOf(at.field);
  const output = withPath('selectionSet', () =>
    selectedFields(subselections(at.nodes), type, context).map((selected) =>
      aggregateField(selected, { table, type, limit: nodesLimit }, context),
    ),
  );
  const select = { table: table.table, fields: [], ...rowArguments, limit, ...(from ? { from } : {}) };
  return { select, output };
}

/** The table and type a field is selected from; `limit` is the limit of the nodes. */
type Of = {
  readonly table: ResolvedTable;
  readonly type: GraphQLObjectType;
  readonly limit: number | null;
};

function aggregateField(
  { alias, name, nodes, field }: SelectedField,
  { table, type, limit }: Of,
  context: PlanContext,
): AggregateField {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  return withPath(name, () => {
    const origin = fieldOrigin(field);
    if (origin.kind === 'nodes') {
      const { fields } = planSelection(origin.table, objectTypeOf(field), nodes, context);
      return { kind: 'nodes', alias, fields, limit };
    }
    return { kind: 'values', alias, members: aggregateMembers(table, { field, nodes }, context) };
  });
}

/** Plans the aggregate values selected over rows of a table. */
export function aggregateMembers(
  table: ResolvedTable,
  at: SelectedNodes,
  context: PlanContext,
): AggregateMember[] {
  return planMembers(at, context, (selected, type) => aggregateMember(selected, table, type, context));
}

function aggregateMember(
  { alias, nodes, field }: SelectedField,
  table: ResolvedTable,
  type: GraphQLObjectType,
  context: PlanContext,
): AggregateMember {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  const origin = fieldOrigin(field);
  const given = readArguments({ field, nodes }, context);
  if (origin.kind === 'count') return { kind: 'value', alias, value: countValue(table, given, context) };
  if (origin.kind !== 'aggregate-function') throw new Error(`${origin.kind} is not part of an aggregate`);
  return {
    kind: 'values',
    alias,
    members: planMembers({ field, nodes }, context, (selected, inner) =>
      functionMember(selected, inner, origin.fn, context),
    ),
  };
}

/** Plans `count`. `distinct` without columns has no effect: rows are distinct. */
function countValue(table: ResolvedTable, given: Arguments, context: PlanContext): AggregateValue {
  const columns = columnsOf(given.get('columns'));
  const distinct = given.get('distinct');
  const isDistinct = distinct?.kind === 'leaf' && valueByValue(distinct, context) === true;
  return { kind: 'count', columns, isDistinct, ...context.visibleIf(table, columns) };
}

/** Returns SQL names of columns, from one value of an enum or a list of them. */
export function columnsOf(input: Input | undefined): string[] {
  if (!input) return [];
  const items = input.kind === 'list' ? input.items : [input];
  return items.flatMap((item) => (item.kind === 'enum' ? [item.value] : []));
}

function functionMember(
  { alias, nodes, field }: SelectedField,
  type: GraphQLObjectType,
  fn: AggregateFunction,
  context: PlanContext,
): AggregateMember {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  const origin = fieldOrigin(field);
  if (origin.kind === 'computed' && origin.field.returns.kind === 'scalar') {
    const { name, returns } = origin.field;
    const given = readArguments({ field, nodes }, context);
    const call = withPath('args', () => planCall(origin.field, given, origin.table));
    const { type: own, json } = returns;
    const visibility = visibleIfOf(origin.field);
    const value = { kind: 'function', fn, column: name, call, type: own, json, ...visibility } as const;
    return { kind: 'value', alias, value };
  }
  if (origin.kind !== 'column') throw new Error(`${origin.kind} has no ${fn}`);
  const { name, type: own, json } = origin.column;
  const visibility = visibleIfOf(origin.column);
  return {
    kind: 'value',
    alias,
    value: { kind: 'function', fn, column: name, type: own, json, ...visibility },
  };
}
