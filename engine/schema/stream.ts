/** `T_stream` in a role's subscription root, and the inputs for the initial value of its cursor: one column the role may read,
 *  and a direction. Not here: when rows are sent (subscribe/stream.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import {
  GraphQLEnumType,
  type GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { derivedTypeName } from '../resolve/names.ts';
import { sharedTypeName } from '../resolve/naming.ts';
import { boolExp } from './bool-exp.ts';
import type { SchemaBuilder } from './builder.ts';
import { columnInputs } from './columns.ts';
import { countExtensions, type FieldConfig, fieldExtensions, nullRefused } from './origin.ts';
import { nonNullList } from './rows.ts';

/** Returns the root field; none for a role that may read no column, or with the feature that hides streams. */
export function streamRoot(builder: SchemaBuilder, table: ResolvedTable): [string, FieldConfig][] {
  if (builder.model.features.has('hide_stream_fields')) return [];
  if (builder.selectableColumns(table).length === 0) return [];
  const { name, description } = table.rootFields.select_stream;
  const field: FieldConfig = {
    type: nonNullList(builder.objectType(table)),
    description,
    args: {
      [table.naming.names.batch_size]: {
        type: new GraphQLNonNull(GraphQLInt),
        description: 'maximum number of rows returned in a single batch',
        extensions: countExtensions,
      },
      cursor: {
        type: new GraphQLNonNull(new GraphQLList(streamCursor(builder, table))),
        description: 'cursor to stream the results returned by the query',
      },
      where: { type: boolExp(builder, table), description: 'filter the rows returned' },
    },
    extensions: fieldExtensions({ kind: 'stream', table }),
  };
  return [[name, field]];
}

function streamCursor(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'stream_cursor_input'), {
    description: `Streaming cursor of the table "${table.table.name}"`,
    fields: () => ({
      [table.naming.names.initial_value]: {
        type: new GraphQLNonNull(initialValue(builder, table)),
        description: 'Stream column input with initial value',
      },
      ordering: {
        type: cursorOrdering(builder, table),
        description: 'cursor ordering',
        extensions: nullRefused,
      },
    }),
  });
}

function initialValue(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'stream_cursor_value_input'), {
    description: 'Initial value of the column from where the streaming should start',
    fields: () => columnInputs(builder, builder.selectableColumns(table)),
  });
}

function cursorOrdering(builder: SchemaBuilder, { naming }: ResolvedTable): GraphQLEnumType {
  return builder.named(sharedTypeName(naming, 'cursor_ordering'), (name) => {
    return new GraphQLEnumType({
      name,
      description: 'ordering argument of a cursor',
      values: {
        ASC: { value: 'asc', description: 'ascending ordering of the cursor' },
        DESC: { value: 'desc', description: 'descending ordering of the cursor' },
      },
    });
  });
}
