/** A selection on a table → Select: its columns and relationships, the rows its arguments ask for, and, conjoined with
 *  them, the rows and the limit of the role. Not here: roots (plan.ts), predicates (bool-exp.ts).
 *  Reference: docs/reference/behaviour/queries.md, docs/reference/behaviour/relationships.md, docs/reference/behaviour/permissions.md. */
import { type FieldNode, type GraphQLField, type GraphQLObjectType, getNamedType } from 'graphql';
import { arrayOf, builtinType } from '../catalog/types.ts';
import { withPath } from '../errors/engine-error.ts';
import { targetOf } from '../resolve/access.ts';
import { jsonPath } from '../resolve/json-path.ts';
import {
  and,
  comparison,
  type FunctionCall,
  type Leaf,
  type Predicate,
  TRUE,
  visibleIfOf,
} from '../resolve/predicate.ts';
import { filtered, filteredWhole } from '../resolve/row-barrier.ts';
import type { ResolvedColumn, ResolvedTable } from '../resolve/types.ts';
import { type FieldOrigin, fieldOrigin } from '../schema/origin.ts';
import { planAggregate } from './aggregate.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { columnRef, planBoolExp } from './bool-exp.ts';
import { planConnection } from './connection.ts';
import type { PlanContext } from './context.ts';
import { countOf, limitOf } from './count.ts';
import { planCall } from './function.ts';
import { type Input, leafOf, valueByValue } from './input.ts';
import { planNativeRows } from './native-query.ts';
import { planDistinctOn, planOrderBy } from './order-by.ts';
import { planJoined } from './remote-relationship.ts';
import { type SelectedField, selectedFields, subselections } from './selection.ts';
import type { Field, Select } from './types.ts';

/** All rows the arguments ask for, as far as the role may see them. */
export function planRows(
  table: ResolvedTable,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  context: PlanContext,
  from?: FunctionCall,
): Select {
  const given = readArguments(field, nodes, context);
  return {
    ...planSelection(table, objectTypeOf(field), nodes, context),
    ...withPath('args', () => planNativeRows(table, given)),
    ...withPath('args', () => rowsAskedFor(table, given, context, from)),
  };
}

/** One row by its key columns, which are the field's arguments. */
export function planRow(
  table: ResolvedTable,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  context: PlanContext,
): Select {
  const given = readArguments(field, nodes, context);
  const where = filtered(context.filterOf(table), keyPredicate(table, given, context));
  return { ...planSelection(table, objectTypeOf(field), nodes, context), where };
}

/** The fields asked of each row; every row, unordered. */
export function planSelection(
  table: ResolvedTable,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  context: PlanContext,
): Select {
  const fields = withPath('selectionSet', () =>
    selectedFields(subselections(nodes), type, context).map((selected) => planField(selected, type, context)),
  );
  return { table: table.table, fields, where: TRUE, orderBy: [], distinctOn: [], limit: null, offset: null };
}

/** Key columns equal to the values given under their GraphQL names, in a row that shows them. */
export function keyPredicate(table: ResolvedTable, given: Arguments, context: PlanContext): Predicate {
  const { visibleIf = {} } = context.visibleIf(table, table.primaryKey?.map(({ name }) => name) ?? []);
  return and(
    ...Object.values(visibleIf),
    ...(table.primaryKey ?? []).map((column): Predicate => {
      const right = leafOf(given.get(column.graphqlName)!, column.type);
      return comparison(columnRef(column), '_eq', right);
    }),
  );
}

function planField(
  { alias, name, nodes, field }: SelectedField,
  type: GraphQLObjectType,
  context: PlanContext,
): Field {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  return withPath(name, () => {
    const origin = fieldOrigin(field);
    if (origin.kind === 'column')
      return columnField(alias, origin.column, readArguments(field, nodes, context), context);
    if (origin.kind === 'computed') return computedField(alias, origin, field, nodes, context);
    if (origin.kind === 'relationship-connection') {
      const { relationship, target } = origin;
      const connection = planConnection(target, field, nodes, context);
      return { kind: 'connection', alias, join: relationship.join, ...connection };
    }
    if (origin.kind === 'joined') return planJoined(alias, origin, { field, nodes }, context);
    if (origin.kind === 'node-id') {
      const key = origin.key.map(({ name: column, type: own }) => ({ column, type: own }));
      return { kind: 'node-id', alias, table: origin.table.table, key };
    }
    if (origin.kind !== 'relationship' && origin.kind !== 'relationship-aggregate')
      throw new Error(`${origin.kind} is not part of a row`);
    return planRelated({ alias, field, nodes, origin }, context);
  });
}

/** A field that leads to other rows. */
export type RelatedField = {
  readonly alias: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
  readonly origin: Extract<FieldOrigin, { kind: 'relationship' | 'relationship-aggregate' }>;
};

export function planRelated({ alias, field, nodes, origin }: RelatedField, context: PlanContext): Field {
  const { relationship, target } = origin;
  if (origin.kind === 'relationship-aggregate') {
    const { join } = relationship;
    return { kind: 'aggregate', alias, join, ...planAggregate(target, field, nodes, context) };
  }
  if (relationship.kind === 'array') {
    const { join } = relationship;
    return { kind: 'array', alias, join, select: planRows(target, field, nodes, context) };
  }
  const given = readArguments(field, nodes, context);
  const select = {
    ...planSelection(target, objectTypeOf(field), nodes, context),
    where: context.filterOf(target),
  };
  const join = { ...relationship.join, ...withPath('args', () => planNativeRows(target, given)) };
  return { kind: 'object', alias, join, select };
}

type ComputedOrigin = Extract<FieldOrigin, { kind: 'computed' }>;

function computedField(
  alias: string,
  { field: computed, table }: ComputedOrigin,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  context: PlanContext,
): Field {
  const given = readArguments(field, nodes, context);
  const call = withPath('args', () => planCall(computed, given, table));
  const { returns } = computed;
  if (returns.kind === 'scalar') {
    const path = withPath('args', () => withPath('path', () => pathLeaf(given.get('path'), context)));
    const { type, json } = returns;
    return { kind: 'computed', alias, call, type, json, path, ...visibleIfOf(computed) };
  }
  const target = targetOf(context.document.role.model, table.source, returns.table);
  return {
    kind: 'called',
    alias,
    isList: returns.isSet,
    select: planCalled(target, call, field, nodes, context),
  };
}

/** Rows a call returns, as far as the role may see them. */
export function planCalled(
  table: ResolvedTable,
  from: FunctionCall,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  context: PlanContext,
): Select {
  return { ...planRows(table, field, nodes, context, from), from };
}

function columnField(alias: string, column: ResolvedColumn, given: Arguments, context: PlanContext): Field {
  const path = withPath('args', () => withPath('path', () => pathLeaf(given.get('path'), context)));
  return {
    kind: 'column',
    alias,
    column: column.name,
    ...printedAs(column),
    path,
    ...visibleIfOf(column),
  };
}

/** What the database may answer: the metadata's word is not its own, and a null must not take the whole row with it. */
export function printedAs({ type, json, isNullable, isDeclared }: ResolvedColumn) {
  return { type, json, isNullable: isNullable || isDeclared };
}

function pathLeaf(input: Input | undefined, context: PlanContext): Leaf | null {
  if (input?.kind !== 'leaf') return null;
  const steps = jsonPath(String(valueByValue(input, context)));
  return steps.length === 0 ? null : { kind: 'constant', value: steps, type: arrayOf(builtinType('text')) };
}

/** Which rows the arguments ask for, within the role's filter and limit; `from` is the call that returns the rows. */
export function rowsAskedFor(
  table: ResolvedTable,
  given: Arguments,
  context: PlanContext,
  from?: FunctionCall,
): Pick<Select, 'where' | 'orderBy' | 'distinctOn' | 'visibleIf' | 'limit' | 'offset'> {
  const access = context.select(table);
  const { names } = table.naming;
  const where = given.get('where');
  const orderBy = withPath(names.order_by, () => planOrderBy(given.get(names.order_by), context));
  const distinctOn = planDistinctOn(given.get(names.distinct_on), orderBy);
  // Postgres may put the body of a function in the place of its call.
  const narrow = from ? filteredWhole : filtered;
  return {
    where: narrow(
      context.filterOf(table),
      where ? withPath('where', () => planBoolExp(where, context)) : TRUE,
    ),
    orderBy,
    distinctOn,
    ...context.visibleIf(table, distinctOn),
    limit: withPath('limit', () => limitOf(given, access?.limit ?? null, context)),
    offset: withPath('offset', () => countOf(given.get('offset'), context)),
  };
}

export function objectTypeOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType {
  return getNamedType(field.type) as GraphQLObjectType;
}
