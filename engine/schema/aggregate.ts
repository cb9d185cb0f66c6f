/** Aggregates in a role's schema: `T_aggregate` with its fields, and the fields that return it (roots, array relationships).
 *  Only tables the role may aggregate have them. Not here: aggregates in orders (order-by.ts) and conditions (bool-exp.ts).
 *  Reference: docs/reference/behaviour/schema.md, docs/reference/behaviour/queries.md, docs/reference/behaviour/aggregates.md. */

import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLFloat,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
} from 'graphql';
import { AGGREGATES } from '../catalog/aggregates.ts';
import type { Scalar } from '../catalog/scalars.ts';
import { aggregateFieldName } from '../resolve/aggregate-fields.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { derivedTypeName, descriptionOf } from '../resolve/names.ts';
import { fieldName, type Naming } from '../resolve/naming.ts';
import type { AggregateOperands, Related, SchemaBuilder } from './builder.ts';
import { selectColumn } from './columns.ts';
import { computedValue, scalarReturn } from './computed-field.ts';
import { type FieldConfig, type FieldMap, fieldExtensions, nullRefused } from './origin.ts';
import { nonNullList, rowArguments } from './rows.ts';

/** Returns the aggregate root field of a table. */
export function aggregateRoot(builder: SchemaBuilder, table: ResolvedTable): FieldConfig {
  return {
    type: new GraphQLNonNull(aggregateType(builder, table)),
    description: table.rootFields.select_aggregate.description,
    args: rowArguments(builder, table),
    extensions: fieldExtensions({ kind: 'rows-aggregate', table }),
  };
}

/** Returns `<rel>_aggregate` for every array relationship. */
export function relationshipAggregates(builder: SchemaBuilder, table: ResolvedTable): FieldMap {
  const related = builder.aggregatedRelationships(table);
  return Object.assign({}, ...related.map((each) => aggregateOf(builder, each, table.naming)));
}

/** Returns `<rel>_aggregate`, if the role may aggregate the related rows. */
export function aggregateOf(
  builder: SchemaBuilder,
  { relationship, target }: Related,
  naming: Naming,
): FieldMap {
  if (relationship.kind !== 'array' || !builder.mayAggregate(target)) return {};
  return {
    [aggregateFieldName(naming, relationship.name)]: {
      type: new GraphQLNonNull(aggregateType(builder, target)),
      description: descriptionOf(relationship.comment, 'An aggregate relationship'),
      args: rowArguments(builder, target),
      extensions: fieldExtensions({ kind: 'relationship-aggregate', relationship, target }),
    },
  };
}

export function aggregateType(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.object(derivedTypeName(table, 'aggregate'), {
    description: `aggregated selection of "${table.table.name}"`,
    fields: () => ({
      aggregate: {
        type: aggregateFields(builder, table),
        extensions: fieldExtensions({ kind: 'aggregate' }),
      },
      nodes: {
        type: nonNullList(builder.objectType(table)),
        extensions: fieldExtensions({ kind: 'nodes', table }),
      },
    }),
  });
}

export function aggregateFields(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.object(derivedTypeName(table, 'aggregate_fields'), {
    description: `aggregate fields of "${table.table.name}"`,
    fields: () => ({
      count: {
        type: new GraphQLNonNull(GraphQLInt),
        args: countArguments(builder, table),
        extensions: fieldExtensions({ kind: 'count' }),
      },
      ...Object.fromEntries(
        builder.aggregateFunctions(table).map((values) => [
          fieldName(table.naming, values.fn),
          {
            type: functionFields(builder, table, values),
            extensions: fieldExtensions({ kind: 'aggregate-function', fn: values.fn }),
          },
        ]),
      ),
    }),
  });
}

/** Returns the arguments of `count`. A role without columns can only count rows. */
function countArguments(builder: SchemaBuilder, table: ResolvedTable): GraphQLFieldConfigArgumentMap {
  const columns = selectColumn(builder, table);
  return {
    ...(columns
      ? { columns: { type: new GraphQLList(new GraphQLNonNull(columns)), extensions: nullRefused } }
      : {}),
    distinct: { type: GraphQLBoolean, extensions: nullRefused },
  };
}

function functionFields(
  builder: SchemaBuilder,
  table: ResolvedTable,
  { fn, columns, computed }: AggregateOperands,
): GraphQLObjectType {
  const typeOf = (scalar: Scalar) =>
    AGGREGATES[fn].gives === 'float' && scalar.arithmetic === 'all'
      ? GraphQLFloat
      : builder.valueType({ scalar });
  return builder.object(derivedTypeName(table, `${fn}_fields`), {
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
          const config = computedValue(builder, table, field);
          return [field.name, { ...config, type: typeOf(scalarReturn(field).scalar) }];
        }),
      ),
    }),
  });
}
