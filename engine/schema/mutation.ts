/** Mutation root fields of a table and their inputs: insert, update, delete, each in plural and singular form, within the
 *  role's permissions. Without a select permission only `affected_rows` is returned, and the singular forms, which return the
 *  row, do not exist. Reference: docs/reference/behaviour/mutations.md, docs/reference/behaviour/permissions.md. */
import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableType,
  type GraphQLObjectType,
  type GraphQLType,
} from 'graphql';
import { flatMapped, type Steps } from '../metadata/steps.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedSource } from '../resolve/model/source.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { derivedTypeName } from '../resolve/names.ts';
import { boolExp } from './bool-exp.ts';
import type { SchemaBuilder } from './builder.ts';
import { insertInput, onConflictInput } from './insert.ts';
import {
  type FieldConfig,
  type FieldMap,
  fieldExtensions,
  inputExtensions,
  type MutationKind,
} from './origin.ts';
import { primaryKeyArguments } from './rows.ts';
import { mayUpdate, updateArguments, updatesInput, updateWhere } from './update.ts';

export function* mutationRoots(builder: SchemaBuilder, { tables }: ResolvedSource): Steps<FieldMap> {
  const roots = yield* flatMapped(tables.values(), (table) => [
    ...insertRoots(builder, table),
    ...updateRoots(builder, table),
    ...deleteRoots(builder, table),
  ]);
  return Object.fromEntries(roots);
}

type Roots = [string, FieldConfig][];

function insertRoots(builder: SchemaBuilder, table: ResolvedTable): Roots {
  if (!builder.access(table).insert) return [];
  const { insert, insert_one } = table.rootFields;
  const input = nonNull(insertInput(builder, table));
  const conflict = onConflictInput(builder, table);
  return [
    root(builder, table, 'insert', insert, {
      objects: { type: nonNull(listOf(input)), description: 'the rows to be inserted' },
      ...conflict,
    }),
    ...rowRoot(builder, table, 'insert-one', insert_one, {
      object: { type: input, description: 'the row to be inserted' },
      ...conflict,
    }),
  ];
}

function updateRoots(builder: SchemaBuilder, table: ResolvedTable): Roots {
  if (!mayUpdate(builder, table)) return [];
  const { update, update_by_pk } = table.rootFields;
  const operators = updateArguments(builder, table);
  const where = updateWhere(builder, table);
  const primaryKey = visibleKey(builder, table);
  return [
    root(builder, table, 'update', update, { ...operators, where }),
    ...(primaryKey
      ? rowRoot(builder, table, 'update-by-pk', update_by_pk, {
          ...operators,
          [table.naming.names.pk_columns]: { type: nonNull(primaryKeyInput(builder, table, primaryKey)) },
        })
      : []),
    ...updateManyRoot(builder, table),
  ];
}

function updateManyRoot(builder: SchemaBuilder, table: ResolvedTable): Roots {
  if (builder.model.features.has('hide_update_many_fields')) return [];
  const { name, description } = table.rootFields.update_many;
  const type = nonNull(listOf(nonNull(updatesInput(builder, table))));
  const field: FieldConfig = {
    type: listOf(responseType(builder, table)),
    description,
    args: { updates: { type, description: 'updates to execute, in order' } },
    extensions: fieldExtensions({ kind: 'update-many', table }),
  };
  return [[name, field]];
}

function deleteRoots(builder: SchemaBuilder, table: ResolvedTable): Roots {
  if (!builder.access(table).delete) return [];
  const primaryKey = visibleKey(builder, table);
  return [
    root(builder, table, 'delete', table.rootFields.delete, {
      where: {
        type: nonNull(boolExp(builder, table)),
        description: 'filter the rows which have to be deleted',
      },
    }),
    ...(primaryKey
      ? rowRoot(
          builder,
          table,
          'delete-by-pk',
          table.rootFields.delete_by_pk,
          primaryKeyArguments(builder, primaryKey),
        )
      : []),
  ];
}

type RootName = { readonly name: string; readonly description: string | null };

function root(
  builder: SchemaBuilder,
  table: ResolvedTable,
  kind: MutationKind,
  { name, description }: RootName,
  args: GraphQLFieldConfigArgumentMap,
): [string, FieldConfig] {
  const type = responseType(builder, table);
  return [name, { type, description, args, extensions: fieldExtensions({ kind, table }) }];
}

/** Returns a root field that returns the row, only for roles that may read it. */
function rowRoot(
  builder: SchemaBuilder,
  table: ResolvedTable,
  kind: MutationKind,
  { name, description }: RootName,
  args: GraphQLFieldConfigArgumentMap,
): Roots {
  if (!builder.select(table)) return [];
  const type = builder.objectType(table);
  return [[name, { type, description, args, extensions: fieldExtensions({ kind, table }) }]];
}

function responseType(builder: SchemaBuilder, table: ResolvedTable): GraphQLObjectType {
  return builder.object(derivedTypeName(table, 'mutation_response'), {
    description: `response of any mutation on the table "${table.table.name}"`,
    fields: () => ({
      [table.naming.names.affected_rows]: {
        type: nonNull(GraphQLInt),
        description: 'number of rows affected by the mutation',
        extensions: fieldExtensions({ kind: 'affected-rows' }),
      },
      ...(builder.select(table)
        ? {
            returning: {
              type: nonNull(listOf(nonNull(builder.objectType(table)))),
              description: 'data from the rows affected by the mutation',
              extensions: fieldExtensions({ kind: 'returning', table }),
            },
          }
        : {}),
    }),
  });
}

function primaryKeyInput(
  builder: SchemaBuilder,
  table: ResolvedTable,
  primaryKey: readonly ResolvedColumn[],
): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'pk_columns_input'), {
    description: `primary key columns input for table: ${table.typeName}`,
    fields: () =>
      Object.fromEntries(
        primaryKey.map((column) => [
          column.graphqlName,
          {
            type: nonNull(builder.valueType(column)),
            extensions: inputExtensions({ kind: 'column', column }),
          },
        ]),
      ),
  });
}

/** Returns the primary key if the role may read all of it. */
function visibleKey(builder: SchemaBuilder, table: ResolvedTable): readonly ResolvedColumn[] | null {
  const access = builder.select(table);
  const isVisible = access && table.primaryKey?.every((column) => access.columns.has(column.name));
  return isVisible ? table.primaryKey : null;
}

const nonNull = <T extends GraphQLNullableType>(type: T) => new GraphQLNonNull(type);
const listOf = <T extends GraphQLType>(type: T) => new GraphQLList(type);
