/** A table's object type and its query roots: `T` and `T_by_pk`. Reference: docs/reference/behaviour/schema.md, docs/reference/behaviour/queries.md, docs/reference/behaviour/relationships.md. */

import {
  type GraphQLFieldConfigArgumentMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { mayReadAtRoot, type RootRead } from '../resolve/access.ts';
import { descriptionOf } from '../resolve/names.ts';

import type { ResolvedColumn, ResolvedSource, ResolvedTable } from '../resolve/types.ts';
import { aggregateRoot, relationshipAggregates } from './aggregate.ts';
import { boolExp } from './bool-exp.ts';
import type { Related, SchemaBuilder } from './builder.ts';
import { relationshipConnections } from './connection.ts';
import { computedField, visibleComputedFields } from './function.ts';
import { groupByRoot } from './group-by.ts';
import { nativeArguments } from './native-query.ts';
import { nodeId, nodeInterface, nodeKey } from './node.ts';
import { orderBy, selectColumn } from './order-by.ts';
import { countExtensions, type FieldConfig, type FieldMap, fieldExtensions } from './origin.ts';
import { remoteRelationships } from './remote-relationship.ts';
import { streamRoot } from './stream.ts';

export function objectType(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.named(table.typeName, (name) => {
    return new GraphQLObjectType({
      name,
      description: table.description,
      interfaces: () => (nodeKey(builder, table) ? [nodeInterface(builder)] : []),
      fields: () => ({
        ...relationshipAggregates(builder, table),
        ...(builder.isRelay ? relationshipConnections(builder, table) : {}),
        ...Object.fromEntries(
          builder
            .selectableColumns(table)
            .map((column) => [column.graphqlName, columnField(builder, column)]),
        ),
        ...Object.fromEntries(
          builder
            .relationships(table)
            .map((related) => [related.relationship.name, relationshipField(builder, related)]),
        ),
        ...remoteRelationships(builder, table),
        ...Object.fromEntries(
          visibleComputedFields(builder, table).map((field) => [
            field.name,
            computedField(builder, table, field),
          ]),
        ),
        ...nodeId(builder, table),
      }),
    });
  });
}

/** The arguments that choose rows. */
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

/** Query (or subscription) roots of the tables the role may read there. */
export function tableRoots(
  builder: SchemaBuilder,
  { tables }: ResolvedSource,
  operation: 'query' | 'subscription',
): FieldMap {
  return Object.fromEntries([...tables.values()].flatMap((table) => rootsOf(builder, table, operation)));
}

function rootsOf(
  builder: SchemaBuilder,
  table: ResolvedTable,
  operation: 'query' | 'subscription',
): [string, FieldConfig][] {
  const access = builder.select(table);
  if (!access) return [];
  const isShown = (way: RootRead) => mayReadAtRoot(access, way, operation);
  const type = objectType(builder, table);
  const { select, select_by_pk, select_aggregate } = table.rootFields;
  const roots: [string, FieldConfig][] = [];
  if (isShown('select')) {
    roots.push([
      select.name,
      {
        type: nonNullList(type),
        description: select.description,
        args: rowArguments(builder, table),
        extensions: fieldExtensions({ kind: 'rows', table }),
      },
    ]);
  }
  if (isShown('select_by_pk') && table.primaryKey?.every((column) => access.columns.has(column.name))) {
    roots.push([
      select_by_pk.name,
      {
        type,
        description: select_by_pk.description,
        args: primaryKeyArguments(builder, table.primaryKey),
        extensions: fieldExtensions({ kind: 'row', table }),
      },
    ]);
  }
  if (isShown('select_aggregate'))
    roots.push([select_aggregate.name, aggregateRoot(builder, table)], ...groupByRoot(builder, table));
  if (operation === 'subscription' && isShown('select_stream')) roots.push(...streamRoot(builder, table));
  return roots;
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

function columnField(builder: SchemaBuilder, column: ResolvedColumn): FieldConfig {
  const type = builder.valueType(column);
  const isJson = column.scalar.family === 'json' || column.scalar.family === 'jsonb';
  return {
    type: column.isNullable ? type : new GraphQLNonNull(type),
    description: column.description,
    ...(isJson ? { args: { path: { type: GraphQLString, description: 'JSON select path' } } } : {}),
    extensions: fieldExtensions({ kind: 'column', column }),
  };
}

export function relationshipField(builder: SchemaBuilder, { relationship, target }: Related): FieldConfig {
  const type = objectType(builder, target);
  const extensions = fieldExtensions({ kind: 'relationship', relationship, target });
  if (relationship.kind === 'array') {
    return {
      type: nonNullList(type),
      description: descriptionOf(relationship.comment, 'An array relationship'),
      args: rowArguments(builder, target),
      extensions,
    };
  }
  // A row that a foreign key guarantees may still be hidden from the role.
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
