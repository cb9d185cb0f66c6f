/** `T_order_by` and the `order_by` enum: ordering by columns, computed fields, related rows, and aggregates over related rows.
 *  Not here: which columns a role may read (builder.ts). Reference: docs/reference/behaviour/queries.md. */
import { GraphQLEnumType, type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import type { AggregateFunction } from '../catalog/aggregates.ts';
import { targetOf } from '../resolve/access.ts';
import { aggregateFieldName } from '../resolve/aggregate-fields.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedComputedField } from '../resolve/model/function.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { computedTypeName, derivedTypeName } from '../resolve/names.ts';
import { enumValueName, fieldName, type Naming, sharedTypeName } from '../resolve/naming.ts';
import type { SchemaBuilder } from './builder.ts';
import { computedArguments } from './computed-field.ts';
import { type InputOrigin, inputExtensions, nullRefused } from './origin.ts';

export type Direction = { readonly direction: 'asc' | 'desc'; readonly nulls: 'first' | 'last' };

/** The values of the `order_by` enum. The default position of nulls is that of Postgres. */
export const DIRECTIONS: Readonly<Record<string, Direction & { readonly description: string }>> = {
  asc: { direction: 'asc', nulls: 'last', description: 'in ascending order, nulls last' },
  asc_nulls_first: { direction: 'asc', nulls: 'first', description: 'in ascending order, nulls first' },
  asc_nulls_last: { direction: 'asc', nulls: 'last', description: 'in ascending order, nulls last' },
  desc: { direction: 'desc', nulls: 'first', description: 'in descending order, nulls first' },
  desc_nulls_first: { direction: 'desc', nulls: 'first', description: 'in descending order, nulls first' },
  desc_nulls_last: { direction: 'desc', nulls: 'last', description: 'in descending order, nulls last' },
};

export function orderBy(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'order_by'), {
    description: `Ordering options when selecting data from "${table.table.name}".`,
    fields: () => ({
      ...aggregateOrders(builder, table),
      ...columnOrders(builder, table, builder.selectableColumns(table)),
      ...computedOrders(builder, table),
      ...Object.fromEntries(
        builder
          .comparableRelationships(table)
          .filter(({ relationship }) => relationship.kind === 'object')
          .map((related) => [
            related.relationship.name,
            {
              type: orderBy(builder, related.target),
              extensions: inputExtensions({ kind: 'relationship', ...related }),
            },
          ]),
      ),
    }),
  });
}

/** Returns computed scalars in `T_order_by`: a direction, or `{args, ordering}` when the client gives arguments. */
function computedOrders(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  const values = builder.visibleComputedFields(table).filter(({ returns }) => returns.kind === 'scalar');
  return Object.fromEntries(
    values.map((field) => {
      const direction = directionEnum(builder, table.naming);
      const args = computedArguments(builder, table, field);
      const type = args
        ? builder.named(computedTypeName(table, field, 'order_by'), (name) => {
            return new GraphQLInputObjectType({ name, fields: { args, ordering: { type: direction } } });
          })
        : direction;
      return [field.name, { type, extensions: inputExtensions({ kind: 'computed', table, field }) }];
    }),
  );
}

export function directionEnum(builder: SchemaBuilder, naming: Naming): GraphQLEnumType {
  return builder.named(sharedTypeName(naming, 'order_by'), (name) => {
    return new GraphQLEnumType({
      name,
      description: 'column ordering options',
      values: Object.fromEntries(
        Object.entries(DIRECTIONS).map(([value, { description }]) => [
          enumValueName(naming, value),
          { value, description },
        ]),
      ),
    });
  });
}

/** Returns `<rel>_aggregate`, and `<field>_aggregate` of computed fields that return rows, in `T_order_by`. */
function aggregateOrders(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  const relationships = builder.aggregatedRelationships(table).map(({ relationship, target }) => {
    const origin = { kind: 'relationship-aggregate', relationship, target } as const;
    return orderField(table.naming, relationship.name, aggregateOrderBy(builder, target), origin);
  });
  const computed = builder.visibleComputedFields(table).flatMap((field) => {
    if (field.returns.kind !== 'rows' || !field.returns.isSet) return [];
    const target = targetOf(builder.model, table.source, field.returns.table);
    if (!builder.mayAggregate(target)) return [];
    const type = computedOrderBy(builder, table, field, target);
    return [orderField(table.naming, field.name, type, { kind: 'computed-aggregate', table, field, target })];
  });
  return Object.fromEntries([...relationships, ...computed]);
}

function orderField(naming: Naming, name: string, type: GraphQLInputObjectType, origin: InputOrigin) {
  return [aggregateFieldName(naming, name), { type, extensions: inputExtensions(origin) }] as const;
}

/** Returns the aggregate order of a computed field's rows, with `args` beside the values when the client gives arguments. */
function computedOrderBy(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
  target: ResolvedTable,
): GraphQLInputObjectType {
  const args = computedArguments(builder, table, field);
  if (!args) return aggregateOrderBy(builder, target);
  return builder.input(computedTypeName(table, field, 'aggregate_order_by'), {
    description: `order by aggregate values of computed field "${field.name}"`,
    fields: () => ({ args, ...aggregateOrderFields(builder, target) }),
  });
}

export function aggregateOrderBy(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'aggregate_order_by'), {
    description: `order by aggregate values of table "${table.table.name}"`,
    fields: () => aggregateOrderFields(builder, table),
  });
}

function aggregateOrderFields(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  return {
    count: { type: directionEnum(builder, table.naming), extensions: inputExtensions({ kind: 'count' }) },
    ...Object.fromEntries(
      builder
        .aggregateFunctions(table)
        .filter(({ columns }) => columns.length > 0)
        .map(({ fn, columns }) => [
          fieldName(table.naming, fn),
          {
            type: functionOrderBy(builder, table, fn, columns),
            extensions: { ...inputExtensions({ kind: 'aggregate-function', fn }), ...nullRefused },
          },
        ]),
    ),
  };
}

function columnOrders(
  builder: SchemaBuilder,
  { naming }: ResolvedTable,
  columns: readonly ResolvedColumn[],
): GraphQLInputFieldConfigMap {
  return Object.fromEntries(
    columns.map((column) => [
      column.graphqlName,
      { type: directionEnum(builder, naming), extensions: inputExtensions({ kind: 'column', column }) },
    ]),
  );
}

function functionOrderBy(
  builder: SchemaBuilder,
  table: ResolvedTable,
  fn: AggregateFunction,
  columns: readonly ResolvedColumn[],
): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, `${fn}_order_by`), {
    description: `order by ${fn}() on columns of table "${table.table.name}"`,
    fields: () => columnOrders(builder, table, columns),
  });
}
