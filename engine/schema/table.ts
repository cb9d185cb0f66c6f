/** A table's object type, and the query root fields of tables and native queries: `T`, `T_by_pk`, `T_aggregate`. Not here:
 *  arguments and relationship fields (rows.ts). Reference: docs/reference/behaviour/schema.md,
 *  docs/reference/behaviour/queries.md, docs/reference/behaviour/relationships.md. */
import { GraphQLList, GraphQLNonNull, type GraphQLObjectType } from 'graphql';
import { flatMapped, type Steps } from '../metadata/steps.ts';
import { mayReadAtRoot, type RootRead, targetOf } from '../resolve/access.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedComputedField } from '../resolve/model/function.ts';
import type { ResolvedSource } from '../resolve/model/source.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { aggregateRoot, relationshipAggregates } from './aggregate.ts';
import type { SchemaBuilder } from './builder.ts';
import { computedFieldArguments, computedValue, jsonPathArgument } from './computed-field.ts';
import { relationshipConnections } from './connection.ts';
import { groupByRoot } from './group-by.ts';
import { nodeId, nodeInterface, nodeKey } from './node.ts';
import { type FieldConfig, type FieldMap, fieldExtensions } from './origin.ts';
import { remoteRelationships } from './remote-relationship.ts';
import { nonNullList, primaryKeyArguments, relationshipField, rowArguments } from './rows.ts';
import { streamRoot } from './stream.ts';

export function objectType(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.object(table.typeName, {
    description: table.description,
    interfaces: () => (nodeKey(builder, table) ? [nodeInterface(builder)] : []),
    fields: () => ({
      ...relationshipAggregates(builder, table),
      ...(builder.isRelay ? relationshipConnections(builder, table) : {}),
      ...Object.fromEntries(
        builder.selectableColumns(table).map((column) => [column.graphqlName, columnField(builder, column)]),
      ),
      ...Object.fromEntries(
        builder
          .relationships(table)
          .map((related) => [related.relationship.name, relationshipField(builder, related)]),
      ),
      ...remoteRelationships(builder, table),
      ...Object.fromEntries(
        builder
          .visibleComputedFields(table)
          .map((field) => [field.name, computedField(builder, table, field)]),
      ),
      ...nodeId(builder, table),
    }),
  });
}

/** Returns the query (or subscription) root fields of the tables the role may read there. */
export function* tableRoots(
  builder: SchemaBuilder,
  { tables }: ResolvedSource,
  operation: 'query' | 'subscription',
): Steps<FieldMap> {
  const roots = yield* flatMapped(tables.values(), (table) => rootsOf(builder, table, operation));
  return Object.fromEntries(roots);
}

function rootsOf(
  builder: SchemaBuilder,
  table: ResolvedTable,
  operation: 'query' | 'subscription',
): [string, FieldConfig][] {
  const access = builder.select(table);
  if (!access) return [];
  const isVisible = (way: RootRead) => mayReadAtRoot(access, way, operation);
  const type = objectType(builder, table);
  const { select, select_by_pk, select_aggregate } = table.rootFields;
  const roots: [string, FieldConfig][] = [];
  if (isVisible('select')) {
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
  if (isVisible('select_by_pk') && table.primaryKey?.every((column) => access.columns.has(column.name))) {
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
  if (isVisible('select_aggregate'))
    roots.push([select_aggregate.name, aggregateRoot(builder, table)], ...groupByRoot(builder, table));
  if (operation === 'subscription' && isVisible('select_stream')) roots.push(...streamRoot(builder, table));
  return roots;
}

/** Returns the query (or subscription) roots of native queries whose logical model the role may read. */
export function nativeQueryRoots(
  builder: SchemaBuilder,
  { nativeQueries }: ResolvedSource,
  operation: 'query' | 'subscription',
): FieldMap {
  return Object.fromEntries(
    [...nativeQueries.values()].flatMap((table): [string, FieldConfig][] => {
      if (!mayReadAtRoot(builder.select(table), 'select', operation)) return [];
      const { name, description } = table.rootFields.select;
      const field = {
        type: nonNullList(builder.objectType(table)),
        description,
        args: rowArguments(builder, table),
        extensions: fieldExtensions({ kind: 'rows', table }),
      };
      return [[name, field]];
    }),
  );
}

function columnField(builder: SchemaBuilder, column: ResolvedColumn): FieldConfig {
  const type = builder.valueType(column);
  const isJson = column.scalar.family === 'json' || column.scalar.family === 'jsonb';
  return {
    type: column.isNullable ? type : new GraphQLNonNull(type),
    description: column.description,
    ...(isJson ? { args: jsonPathArgument } : {}),
    extensions: fieldExtensions({ kind: 'column', column }),
  };
}

function computedField(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
): FieldConfig {
  const { returns, description } = field;
  if (returns.kind === 'scalar') return computedValue(builder, table, field);
  const args = computedFieldArguments(builder, table, field);
  const extensions = fieldExtensions({ kind: 'computed', table, field });
  const target = targetOf(builder.model, table.source, returns.table);
  const type = builder.objectType(target);
  if (!returns.isSet) return { type, description, args, extensions };
  const list = new GraphQLList(new GraphQLNonNull(type));
  return { type: list, description, args: { ...args, ...rowArguments(builder, target) }, extensions };
}
