/** A selection on a table → Select: its fields, and the rows its arguments select, conjoined with the role's filter and limit.
 *  Not here: single fields (field.ts), root fields (plan.ts), predicates (bool-exp.ts). Reference:
 *  docs/reference/behaviour/queries.md, docs/reference/behaviour/relationships.md, docs/reference/behaviour/permissions.md. */
import { type FieldNode, type GraphQLField, type GraphQLObjectType, getNamedType } from 'graphql';
import { baseType } from '../catalog/types.ts';
import { withPath } from '../errors/engine-error.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { and, comparison, type FunctionCall, type Predicate, TRUE } from '../resolve/predicate.ts';
import { filtered, filteredWhole } from '../resolve/row-barrier.ts';
import { readArguments } from './arguments.ts';
import { columnRef, planOptional } from './bool-exp.ts';
import type { PlanContext, SelectedField, SelectedNodes } from './context.ts';
import { countOf, limitOf } from './count.ts';
import { type Arguments, leafOf } from './input.ts';
import { planNativeRows } from './native-query.ts';
import { planDistinctOn, planOrderBy } from './order-by.ts';
import type { Select } from './query-types.ts';
import { selectedFields, subselections } from './selection.ts';

/** Plans the rows a field's arguments select, within the role's permission. */
export function planRows(
  table: ResolvedTable,
  at: SelectedNodes,
  context: PlanContext,
  from?: FunctionCall,
): Select {
  const given = readArguments(at, context);
  return {
    ...planSelection(table, objectTypeOf(at.field), at.nodes, context),
    ...withPath('args', () => planNativeRows(table, given)),
    ...withPath('args', () => planRowArguments(table, given, context, from)),
  };
}

/** Plans one row, found by the key columns in the field's arguments. */
export function planRow(table: ResolvedTable, at: SelectedNodes, context: PlanContext): Select {
  const given = readArguments(at, context);
  const where = filtered(context.filterOf(table), keyPredicate(table, given, context));
  return { ...planSelection(table, objectTypeOf(at.field), at.nodes, context), where };
}

/** Plans the selected fields of all rows, unordered. */
export function planSelection(
  table: ResolvedTable,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  context: PlanContext,
): Select {
  const fields = withPath('selectionSet', () =>
    selectedFields(subselections(nodes), type, context).map((selected) =>
      context.planners.field(selected, type, context),
    ),
  );
  return { table: table.table, fields, where: TRUE, orderBy: [], distinctOn: [], limit: null, offset: null };
}

/** Returns the condition that the key columns equal the arguments of the same GraphQL names, in rows whose key the role sees. */
export function keyPredicate(table: ResolvedTable, given: Arguments, context: PlanContext): Predicate {
  const { visibleIf = {} } = context.visibleIf(table, table.primaryKey?.map(({ name }) => name) ?? []);
  return and(
    ...Object.values(visibleIf),
    ...(table.primaryKey ?? []).map((column): Predicate => {
      const right = leafOf(given.get(column.graphqlName)!, baseType(column.type));
      return comparison(columnRef(column), '_eq', right);
    }),
  );
}

/** Plans the rows a call returns, within the role's permission. */
export function planCalled(
  table: ResolvedTable,
  from: FunctionCall,
  at: SelectedNodes,
  context: PlanContext,
): Select {
  return { ...planRows(table, at, context, from), from };
}

/** Returns the type and JSON form of a column. A declared column counts as nullable: the database does not enforce the
 *  metadata, and a null must not turn the whole row into null. */
export function printedAs({ type, json, isNullable, isDeclared }: ResolvedColumn) {
  return { type, json, isNullable: isNullable || isDeclared };
}

/** Plans the arguments that select rows, within the role's filter and limit; `from` is the call that returns the rows. */
export function planRowArguments(
  table: ResolvedTable,
  given: Arguments,
  context: PlanContext,
  from?: FunctionCall,
): Pick<Select, 'where' | 'orderBy' | 'distinctOn' | 'visibleIf' | 'limit' | 'offset'> {
  const access = context.select(table);
  const { names } = table.naming;
  const orderBy = withPath(names.order_by, () => planOrderBy(given.get(names.order_by), context));
  const distinctOn = planDistinctOn(given.get(names.distinct_on), orderBy);
  // Postgres may inline the function, so the filter must be evaluated first.
  const narrow = from ? filteredWhole : filtered;
  return {
    where: narrow(
      context.filterOf(table),
      withPath('where', () => planOptional(given.get('where'), context)),
    ),
    orderBy,
    distinctOn,
    ...context.visibleIf(table, distinctOn),
    limit: withPath('limit', () => limitOf(given, access?.limit ?? null, context)),
    offset: withPath('offset', () => countOf(given.get('offset'), context)),
  };
}

/** Plans the fields selected in an object that is not a row: an aggregate, a group, or a page and its parts. */
export function planMembers<T>(
  at: SelectedNodes,
  context: PlanContext,
  plan: (selected: SelectedField, type: GraphQLObjectType, context: PlanContext) => T,
): T[] {
  const type = objectTypeOf(at.field);
  return withPath('selectionSet', () =>
    selectedFields(subselections(at.nodes), type, context).map((selected) =>
      withPath(selected.name, () => plan(selected, type, context)),
    ),
  );
}

export function objectTypeOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType {
  return getNamedType(field.type) as GraphQLObjectType;
}
