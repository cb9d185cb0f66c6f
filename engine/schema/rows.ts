/** Fields that return rows of a table: their type, the arguments that choose rows, and relationship fields.
 *  Not here: the object type of a row and the root fields (table.ts).
 *  Reference: docs/reference/behaviour/schema.md, docs/reference/behaviour/queries.md, docs/reference/behaviour/relationships.md. */
import {
  type GraphQLFieldConfigArgumentMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
} from 'graphql';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { descriptionOf } from '../resolve/names.ts';
import { boolExp } from './bool-exp.ts';
import type { Related, SchemaBuilder } from './builder.ts';
import { selectColumn } from './columns.ts';
import { nativeArguments } from './native-query.ts';
import { orderBy } from './order-by.ts';
import { countExtensions, type FieldConfig, fieldExtensions } from './origin.ts';

/** Returns the arguments that select rows. */
export function rowArguments(builder: SchemaBuilder, table: ResolvedTable): GraphQLFieldConfigArgumentMap {
  const { names } = table.naming;
  const columns = selectColumn(builder, table);
  return {
    ...nativeArguments(builder, table),
    ...(columns
      ? {
          [names.distinct_on]: {
            type: new GraphQLList(new GraphQLNonNull(columns)),
            description: 'distinct select on columns',
          },
        }
      : {}),
    limit: {
      type: GraphQLInt,
      description: 'limit the number of rows returned',
      extensions: countExtensions,
    },
    offset: {
      type: GraphQLInt,
      description: `skip the first n rows. Use only with ${names.order_by}`,
      extensions: countExtensions,
    },
    [names.order_by]: {
      type: new GraphQLList(new GraphQLNonNull(orderBy(builder, table))),
      description: 'sort the rows by one or more columns',
    },
    where: { type: boolExp(builder, table), description: 'filter the rows returned' },
  };
}

export function primaryKeyArguments(
  builder: SchemaBuilder,
  primaryKey: readonly ResolvedColumn[],
): GraphQLFieldConfigArgumentMap {
  return Object.fromEntries(
    primaryKey.map((column) => [
      column.graphqlName,
      { type: new GraphQLNonNull(builder.valueType(column)), description: column.description },
    ]),
  );
}

export function relationshipField(builder: SchemaBuilder, { relationship, target }: Related): FieldConfig {
  const type = builder.objectType(target);
  const extensions = fieldExtensions({ kind: 'relationship', relationship, target });
  if (relationship.kind === 'array') {
    return {
      type: nonNullList(type),
      description: descriptionOf(relationship.comment, 'An array relationship'),
      args: rowArguments(builder, target),
      extensions,
    };
  }
  // The role's filter may exclude a row that a foreign key guarantees.
  const mayBeHidden = builder.select(target)?.filter.kind !== 'true';
  return {
    type: relationship.isNullable || mayBeHidden ? type : new GraphQLNonNull(type),
    description: descriptionOf(relationship.comment, 'An object relationship'),
    args: nativeArguments(builder, target),
    extensions,
  };
}

export function nonNullList(
  type: GraphQLObjectType,
): GraphQLNonNull<GraphQLList<GraphQLNonNull<GraphQLObjectType>>> {
  return new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));
}
