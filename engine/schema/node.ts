/** Objects with a global id, for clients that keep a store of objects: the interface `Node`, its `id`, and the root field
 *  `node`. The rows of a table with a primary key are Nodes for each role that may select from it, also where the columns of
 *  the key are not granted: an id and a cursor hold the key in any case. Only the Relay schema has Nodes. Not here: the
 *  content of ids (plan/node.ts). Reference: docs/reference/behaviour/relay.md. */
import { GraphQLID, GraphQLInterfaceType, GraphQLNonNull, type GraphQLObjectType } from 'graphql';
import { mayReadAtRoot } from '../resolve/access.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { SchemaBuilder } from './builder.ts';
import { type FieldMap, fieldExtensions, nodeExtensions } from './origin.ts';

/** Returns the columns of the key in ids and cursors; null when rows are not Nodes. */
export function nodeKey(builder: SchemaBuilder, table: ResolvedTable): readonly ResolvedColumn[] | null {
  return builder.isRelay && builder.select(table) ? table.primaryKey : null;
}

/** Returns the primary key if the role may read all of it in every row. */
export function readableKey(builder: SchemaBuilder, table: ResolvedTable): readonly ResolvedColumn[] | null {
  const access = builder.select(table);
  const { primaryKey } = table;
  if (!access || !primaryKey) return null;
  const isVisible = ({ name }: ResolvedColumn) => access.columns.has(name) && !access.cells.columns.has(name);
  return primaryKey.every(isVisible) ? primaryKey : null;
}

/** Returns the tables whose rows are Nodes. */
export function nodeTables(builder: SchemaBuilder): readonly ResolvedTable[] {
  return [...builder.model.sources.values()].flatMap(({ tables }) =>
    [...tables.values()].filter((table) => nodeKey(builder, table) !== null),
  );
}

/** Returns the tables whose rows the role may find by `node`. */
export function foundByNode(
  builder: SchemaBuilder,
  operation: 'query' | 'subscription',
): readonly ResolvedTable[] {
  return nodeTables(builder).filter((table) => {
    return mayReadAtRoot(builder.select(table), 'select_by_pk', operation);
  });
}

export function nodeInterface(builder: SchemaBuilder): GraphQLInterfaceType {
  return builder.named('Node', (name) => {
    return new GraphQLInterfaceType({
      name,
      description: 'An object with globally unique ID',
      fields: () => ({ id: ID_FIELD }),
      extensions: nodeExtensions((typeName) => nodeTypeNamed(builder, typeName)),
    });
  });
}

function nodeTypeNamed(builder: SchemaBuilder, name: string): GraphQLObjectType | undefined {
  const table = nodeTables(builder).find(({ typeName }) => typeName === name);
  return table && builder.objectType(table);
}

/** Returns `id`, which replaces a column of that name; nothing when rows are not Nodes. */
export function nodeId(builder: SchemaBuilder, table: ResolvedTable): FieldMap {
  const key = nodeKey(builder, table);
  if (!key) return {};
  return { id: { ...ID_FIELD, extensions: fieldExtensions({ kind: 'node-id', table, key }) } };
}

const ID_FIELD = { type: new GraphQLNonNull(GraphQLID), description: 'A globally unique identifier' };

/** Returns the root field `node`, if there are Nodes. */
export function nodeRoot(builder: SchemaBuilder, operation: 'query' | 'subscription'): FieldMap {
  if (foundByNode(builder, operation).length === 0) return {};
  return {
    node: {
      type: nodeInterface(builder),
      args: { id: { type: ID_FIELD.type, description: 'A globally unique id' } },
      extensions: fieldExtensions({ kind: 'node' }),
    },
  };
}
