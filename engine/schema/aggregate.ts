/** Aggregates in a role's schema: `T_aggregate` with its fields, where it can be asked for (roots, array relationships,
 *  functions), and how rows are ordered by aggregates over others. Only tables the role may aggregate take part.
 *  Reference: docs/reference/behaviour/schema.md, docs/reference/behaviour/queries.md, docs/reference/behaviour/aggregates.md. */

import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLFloat,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import {
  AGGREGATE_FUNCTIONS,
  AGGREGATES,
  type AggregateFunction,
  isAggregated,
} from '../catalog/aggregates.ts';
import type { Scalar } from '../catalog/scalars.ts';
import { targetOf } from '../resolve/access.ts';
import { computedTypeName, derivedTypeName, descriptionOf } from '../resolve/names.ts';
import { fieldName, type Naming } from '../resolve/naming.ts';
import type { ResolvedColumn, ResolvedComputedField, ResolvedTable } from '../resolve/types.ts';
import type { Related, SchemaBuilder } from './builder.ts';
import { computedArguments, computedField, visibleComputedFields } from './function.ts';
import { directionEnum, selectColumn } from './order-by.ts';
import {
  type FieldConfig,
  type FieldMap,
  fieldExtensions,
  type InputOrigin,
  inputExtensions,
} from './origin.ts';
import { nonNullList, objectType, rowArguments } from './table.ts';

/** May the role see its rows taken together? */
export function mayAggregate(builder: SchemaBuilder, table: ResolvedTable): boolean {
  return builder.select(table)?.allowsAggregation === true;
}

/** The root field over a table's rows. */
export function aggregateRoot(builder: SchemaBuilder, table: ResolvedTable): FieldConfig {
  return {
    type: new GraphQLNonNull(aggregateType(builder, table)),
    description: table.rootFields.select_aggregate.description,
    args: rowArguments(builder, table),
    extensions: fieldExtensions({ kind: 'rows-aggregate', table }),
  };
}

/** `<rel>_aggregate` beside each array relationship. */
export function relationshipAggregates(builder: SchemaBuilder, table: ResolvedTable): FieldMap {
  const related = aggregatedRelationships(builder, table);
  return Object.assign({}, ...related.map((each) => aggregateOf(builder, each, table.naming)));
}

/** `<rel>_aggregate`, where it leads to rows that the role may aggregate. */
export function aggregateOf(
  builder: SchemaBuilder,
  { relationship, target }: Related,
  naming: Naming,
): FieldMap {
  if (relationship.kind !== 'array' || !mayAggregate(builder, target)) return {};
  return {
    [fieldName(naming, { verbatim: relationship.name }, 'aggregate')]: {
      type: new GraphQLNonNull(aggregateType(builder, target)),
      description: descriptionOf(relationship.comment, 'An aggregate relationship'),
      args: rowArguments(builder, target),
      extensions: fieldExtensions({ kind: 'relationship-aggregate', relationship, target }),
    },
  };
}

export function aggregateType(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.named(derivedTypeName(table, 'aggregate'), (name) => {
    return new GraphQLObjectType({
      name,
      description: `aggregated selection of "${table.table.name}"`,
      fields: () => ({
        aggregate: {
          type: aggregateFields(builder, table),
          extensions: fieldExtensions({ kind: 'aggregate' }),
        },
        nodes: {
          type: nonNullList(objectType(builder, table)),
          extensions: fieldExtensions({ kind: 'nodes', table }),
        },
      }),
    });
  });
}

export function aggregateFields(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.named(derivedTypeName(table, 'aggregate_fields'), (name) => {
    return new GraphQLObjectType({
      name,
      description: `aggregate fields of "${table.table.name}"`,
      fields: () => ({
        count: {
          type: new GraphQLNonNull(GraphQLInt),
          args: countArguments(builder, table),
          extensions: fieldExtensions({ kind: 'count' }),
        },
        ...Object.fromEntries(
          functionsOver(builder, table).map((values) => [
            fieldName(table.naming, values.fn),
            {
              type: functionFields(builder, table, values),
              extensions: fieldExtensions({ kind: 'aggregate-function', fn: values.fn }),
            },
          ]),
        ),
      }),
    });
  });
}

/** A role without columns counts rows and nothing else. */
function countArguments(builder: SchemaBuilder, table: ResolvedTable): GraphQLFieldConfigArgumentMap {
  const columns = selectColumn(builder, table);
  return {
    ...(columns ? { columns: { type: new GraphQLList(new GraphQLNonNull(columns)) } } : {}),
    distinct: { type: GraphQLBoolean },
  };
}

function functionFields(
  builder: SchemaBuilder,
  table: ResolvedTable,
  { fn, columns, computed }: FunctionValues,
): GraphQLObjectType {
  const typeOf = (scalar: Scalar) =>
    AGGREGATES[fn].gives === 'float' && scalar.arithmetic === 'all'
      ? GraphQLFloat
      : builder.valueType({ scalar });
  return builder.named(derivedTypeName(table, `${fn}_fields`), (name) => {
    return new GraphQLObjectType({
      name,
      description: `aggregate ${fn} on columns`,
      fields: () => ({
        ...Object.fromEntries(
          columns.map((column) => [
            column.graphqlName,
            {
              type: typeOf(column.scalar),
              description: column.description,
              extensions: fieldExtensions({ kind: 'column', column }),
            },
          ]),
        ),
        ...Object.fromEntries(
          computed.map((field) => {
            const { description, args, extensions } = computedField(builder, table, field);
            const { scalar } = field.returns as ScalarReturn;
            return [field.name, { type: typeOf(scalar), description, args, extensions }];
          }),
        ),
      }),
    });
  });
}

type ScalarReturn = Extract<ResolvedComputedField['returns'], { kind: 'scalar' }>;

type FunctionValues = {
  readonly fn: AggregateFunction;
  readonly columns: readonly ResolvedColumn[];
  /** Computed fields that are values. */
  readonly computed: readonly ResolvedComputedField[];
};

/** The functions that have something to work on. */
function functionsOver(builder: SchemaBuilder, table: ResolvedTable): FunctionValues[] {
  const columns = builder.selectableColumns(table);
  const computed = visibleComputedFields(builder, table);
  return AGGREGATE_FUNCTIONS.map((fn) => ({
    fn,
    columns: columns.filter(({ scalar, type }) => isAggregated(fn, scalar, type)),
    computed: computed.filter(
      ({ returns }) => returns.kind === 'scalar' && isAggregated(fn, returns.scalar, returns.type),
    ),
  })).filter(({ columns, computed }) => columns.length + computed.length > 0);
}

/** Array relationships to tables the role may aggregate. */
export function aggregatedRelationships(builder: SchemaBuilder, table: ResolvedTable): Related[] {
  return builder
    .comparableRelationships(table)
    .filter(({ relationship, target }) => relationship.kind === 'array' && mayAggregate(builder, target));
}

/** In `T_order_by`: `<rel>_aggregate`, and `<field>_aggregate` of computed fields that return rows. */
export function aggregateOrders(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  const relationships = aggregatedRelationships(builder, table).map(({ relationship, target }) => {
    const origin = { kind: 'relationship-aggregate', relationship, target } as const;
    return orderField(table.naming, relationship.name, aggregateOrderBy(builder, target), origin);
  });
  const computed = visibleComputedFields(builder, table).flatMap((field) => {
    if (field.returns.kind !== 'rows' || !field.returns.isSet) return [];
    const target = targetOf(builder.model, table.source, field.returns.table);
    if (!mayAggregate(builder, target)) return [];
    const type = computedOrderBy(builder, table, field, target);
    return [orderField(table.naming, field.name, type, { kind: 'computed-aggregate', table, field, target })];
  });
  return Object.fromEntries([...relationships, ...computed]);
}

function orderField(naming: Naming, name: string, type: GraphQLInputObjectType, origin: InputOrigin) {
  return [
    fieldName(naming, { verbatim: name }, 'aggregate'),
    { type, extensions: inputExtensions(origin) },
  ] as const;
}

/** That of the rows; where the client gives arguments, with `args` beside the values. */
function computedOrderBy(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
  target: ResolvedTable,
): GraphQLInputObjectType {
  const args = computedArguments(builder, table, field);
  if (!args) return aggregateOrderBy(builder, target);
  return builder.named(computedTypeName(table, field, 'aggregate_order_by'), (name) => {
    return new GraphQLInputObjectType({
      name,
      description: `order by aggregate values of computed field "${field.name}"`,
      fields: () => ({ args, ...aggregateOrderFields(builder, target) }),
    });
  });
}

export function aggregateOrderBy(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.named(derivedTypeName(table, 'aggregate_order_by'), (name) => {
    return new GraphQLInputObjectType({
      name,
      description: `order by aggregate values of table "${table.table.name}"`,
      fields: () => aggregateOrderFields(builder, table),
    });
  });
}

function aggregateOrderFields(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  return {
    count: { type: directionEnum(builder, table.naming), extensions: inputExtensions({ kind: 'count' }) },
    ...Object.fromEntries(
      functionsOver(builder, table)
        .filter(({ columns }) => columns.length > 0)
        .map(({ fn, columns }) => [
          fieldName(table.naming, fn),
          {
            type: functionOrderBy(builder, table, fn, columns),
            extensions: inputExtensions({ kind: 'aggregate-function', fn }),
          },
        ]),
    ),
  };
}

function functionOrderBy(
  builder: SchemaBuilder,
  table: ResolvedTable,
  fn: AggregateFunction,
  columns: readonly ResolvedColumn[],
): GraphQLInputObjectType {
  return builder.named(derivedTypeName(table, `${fn}_order_by`), (name) => {
    return new GraphQLInputObjectType({
      name,
      description: `order by ${fn}() on columns of table "${table.table.name}"`,
      fields: () =>
        Object.fromEntries(
          columns.map((column) => [
            column.graphqlName,
            {
              type: directionEnum(builder, table.naming),
              extensions: inputExtensions({ kind: 'column', column }),
            },
          ]),
        ),
    });
  });
}
