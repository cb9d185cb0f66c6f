/** Connections, pages of rows with cursors, in the Relay schema: of tables, array relationships and functions,
 *  `articleConnection {pageInfo edges {cursor node}}`. Only tables whose rows are Nodes have connections, because their key
 *  makes a cursor identify one row. Reference: docs/reference/behaviour/relay.md; the GraphQL Cursor Connections
 *  Specification. */

import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { flatMapped, type Steps } from '../metadata/steps.ts';
import { mayReadAtRoot, targetOf } from '../resolve/access.ts';
import type { ResolvedFunction } from '../resolve/model/function.ts';
import type { ResolvedSource } from '../resolve/model/source.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { descriptionOf, relayTypeName } from '../resolve/names.ts';
import { fieldName, rootFieldName } from '../resolve/naming.ts';
import type { SchemaBuilder } from './builder.ts';
import { callArgumentsOf, mayCall } from './function.ts';
import { nodeKey } from './node.ts';
import {
  countExtensions,
  type FieldConfig,
  type FieldMap,
  type FieldOrigin,
  fieldExtensions,
  PAGE_INFO,
} from './origin.ts';
import { nonNullList, rowArguments } from './rows.ts';

/** Returns the connections of tables, and of functions that only read, as root fields of queries or subscriptions. */
export function* connectionRoots(
  builder: SchemaBuilder,
  { tables, functions }: ResolvedSource,
  operation: 'query' | 'subscription',
): Steps<FieldMap> {
  return Object.fromEntries([
    ...(yield* flatMapped(tables.values(), (table) => tableConnection(builder, table, operation))),
    ...[...functions.values()].flatMap((fn) => functionConnection(builder, fn)),
  ]);
}

function tableConnection(
  builder: SchemaBuilder,
  table: ResolvedTable,
  operation: 'query' | 'subscription',
): [string, FieldConfig][] {
  if (!nodeKey(builder, table) || !mayReadAtRoot(builder.select(table), 'select', operation)) return [];
  const { naming, base } = table;
  const name = rootFieldName(naming, fieldName(naming, base, 'connection'));
  const description = `fetch data from the table: "${table.table.name}"`;
  const args = connectionArguments(builder, table);
  return [
    [name, connectionField(builder, table, { description, args, origin: { kind: 'connection', table } })],
  ];
}

function functionConnection(builder: SchemaBuilder, fn: ResolvedFunction): [string, FieldConfig][] {
  const table = targetOf(builder.model, fn.source, fn.returns);
  const isRead = fn.returnsSet && fn.exposedAs === 'query' && mayCall(builder, fn);
  if (!isRead || !nodeKey(builder, table)) return [];
  const { description } = fn;
  const args = { ...callArgumentsOf(builder, fn), ...connectionArguments(builder, table) };
  const name = fieldName(table.naming, { verbatim: fn.rootField }, 'connection');
  const origin = { kind: 'function-connection', fn, table } as const;
  return [[name, connectionField(builder, table, { description, args, origin })]];
}

/** Returns `<rel>_connection` for every array relationship. */
export function relationshipConnections(builder: SchemaBuilder, table: ResolvedTable): FieldMap {
  const related = builder
    .relationships(table)
    .filter(({ relationship, target }) => relationship.kind === 'array' && nodeKey(builder, target));
  return Object.fromEntries(
    related.map(({ relationship, target }) => {
      const description = descriptionOf(relationship.comment, 'An array relationship connection');
      const origin = { kind: 'relationship-connection', relationship, target } as const;
      const args = connectionArguments(builder, target);
      const name = fieldName(table.naming, { verbatim: relationship.name }, 'connection');
      return [name, connectionField(builder, target, { description, args, origin })];
    }),
  );
}

type Described = {
  readonly description: string | null;
  readonly args: GraphQLFieldConfigArgumentMap;
  readonly origin: FieldOrigin;
};

function connectionField(
  builder: SchemaBuilder,
  table: ResolvedTable,
  { description, args, origin }: Described,
): FieldConfig {
  const type = new GraphQLNonNull(connectionType(builder, table));
  return { type, description, args, extensions: fieldExtensions(origin) };
}

function connectionArguments(builder: SchemaBuilder, table: ResolvedTable): GraphQLFieldConfigArgumentMap {
  const { limit: _, offset: __, ...rows } = rowArguments(builder, table);
  const size = { type: GraphQLInt, extensions: countExtensions };
  return {
    after: { type: GraphQLString },
    before: { type: GraphQLString },
    first: size,
    last: size,
    ...rows,
  };
}

function connectionType(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.object(relayTypeName(table, 'Connection'), {
    description: `A Relay connection object on "${table.table.name}"`,
    fields: () => ({
      edges: {
        type: nonNullList(edgeType(builder, table)),
        extensions: fieldExtensions({ kind: 'edges', table }),
      },
      pageInfo: {
        type: new GraphQLNonNull(pageInfo(builder)),
        extensions: fieldExtensions({ kind: 'page-info' }),
      },
    }),
  });
}

function edgeType(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.object(relayTypeName(table, 'Edge'), {
    fields: () => ({
      cursor: { type: new GraphQLNonNull(GraphQLString), extensions: fieldExtensions({ kind: 'cursor' }) },
      node: {
        type: new GraphQLNonNull(builder.objectType(table)),
        extensions: fieldExtensions({ kind: 'edge-node', table }),
      },
    }),
  });
}

function pageInfo(builder: SchemaBuilder): GraphQLObjectType {
  return builder.named('PageInfo', (name) => {
    const fields = PAGE_INFO.map((part): [string, FieldConfig] => {
      const type = new GraphQLNonNull(part.startsWith('has') ? GraphQLBoolean : GraphQLString);
      return [part, { type, extensions: fieldExtensions({ kind: 'page-info-part', part }) }];
    });
    return new GraphQLObjectType({ name, fields: Object.fromEntries(fields) });
  });
}
