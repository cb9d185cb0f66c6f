/** `T_order_by`, the `order_by` enum and `T_select_column`. Reference: docs/reference/behaviour/queries.md. */
import { GraphQLEnumType, type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import { computedTypeName, derivedTypeName } from '../resolve/names.ts';
import { enumValueName, type Naming, sharedTypeName } from '../resolve/naming.ts';
import type { ResolvedTable } from '../resolve/types.ts';
import { aggregateOrders } from './aggregate.ts';
import type { SchemaBuilder } from './builder.ts';
import { computedArguments, visibleComputedFields } from './function.ts';
import { inputExtensions } from './origin.ts';

export type Direction = { readonly direction: 'asc' | 'desc'; readonly nulls: 'first' | 'last' };

/** Wire value → direction; where nulls go by default follows Postgres. */
export const DIRECTIONS: Readonly<Record<string, Direction & { readonly description: string }>> = {
  asc: { direction: 'asc', nulls: 'last', description: 'in ascending order, nulls last' },
  asc_nulls_first: { direction: 'asc', nulls: 'first', description: 'in ascending order, nulls first' },
  asc_nulls_last: { direction: 'asc', nulls: 'last', description: 'in ascending order, nulls last' },
  desc: { direction: 'desc', nulls: 'first', description: 'in descending order, nulls first' },
  desc_nulls_first: { direction: 'desc', nulls: 'first', description: 'in descending order, nulls first' },
  desc_nulls_last: { direction: 'desc', nulls: 'last', description: 'in descending order, nulls last' },
};

export function orderBy(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.named(derivedTypeName(table, 'order_by'), (name) => {
    return new GraphQLInputObjectType({
      name,
      description: `Ordering options when selecting data from "${table.table.name}".`,
      fields: () => ({
        ...aggregateOrders(builder, table),
        ...Object.fromEntries(
          builder.selectableColumns(table).map((column) => [
            column.graphqlName,
            {
              type: directionEnum(builder, table.naming),
              extensions: inputExtensions({ kind: 'column', column }),
            },
          ]),
        ),
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
  });
}

/** A direction; where the client gives arguments, `{args, ordering}`. */
function computedOrders(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  const values = visibleComputedFields(builder, table).filter(({ returns }) => returns.kind === 'scalar');
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

/** Columns by name, for `distinct_on`; null when the role may read none. */
export function selectColumn(builder: SchemaBuilder, table: ResolvedTable): GraphQLEnumType | null {
  const columns = builder.selectableColumns(table);
  if (columns.length === 0) return null;
  const suffix = table.native ? 'enum_name' : 'select_column';
  return builder.named(derivedTypeName(table, suffix), (name) => {
    return new GraphQLEnumType({
      name,
      description: `select columns of table "${table.table.name}"`,
      values: Object.fromEntries(
        columns.map((column) => [column.graphqlName, { value: column.name, description: 'column name' }]),
      ),
    });
  });
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
