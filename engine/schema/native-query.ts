/** Native queries in a role's schema: root fields for those whose logical model the role may read, and the input of their
 *  arguments. Their rows are read like a table's (table.ts). Reference: docs/reference/behaviour/functions.md.
 *  Not here: what the code says (resolve/native-query.ts). */
import { type GraphQLFieldConfigArgumentMap, GraphQLInputObjectType, GraphQLNonNull } from 'graphql';
import { mayReadAtRoot } from '../resolve/access.ts';
import { nativeArgumentsTypeName } from '../resolve/names.ts';
import type { ResolvedSource, ResolvedTable } from '../resolve/types.ts';
import type { SchemaBuilder } from './builder.ts';
import { type FieldConfig, type FieldMap, fieldExtensions, inputExtensions } from './origin.ts';
import { nonNullList, objectType, rowArguments } from './table.ts';

/** Root fields of a query or a subscription. */
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
        type: nonNullList(objectType(builder, table)),
        description,
        args: rowArguments(builder, table),
        extensions: fieldExtensions({ kind: 'rows', table }),
      };
      return [[name, field]];
    }),
  );
}

/** `args`, when the query takes any; nothing for a table. */
export function nativeArguments(builder: SchemaBuilder, table: ResolvedTable): GraphQLFieldConfigArgumentMap {
  const declared = table.native?.arguments ?? [];
  if (declared.length === 0) return {};
  const description = `${table.table.name} Native Query Arguments`;
  const input = builder.named(nativeArgumentsTypeName(table), (name) => {
    return new GraphQLInputObjectType({
      name,
      description,
      fields: () =>
        Object.fromEntries(
          declared.map((argument) => {
            const type = builder.valueType(argument);
            return [
              argument.name,
              {
                type: argument.isNullable ? type : new GraphQLNonNull(type),
                description: argument.description,
                extensions: inputExtensions({ kind: 'native-argument', argument }),
              },
            ];
          }),
        ),
    });
  });
  const isOptional = declared.every((argument) => argument.isNullable);
  return { args: { type: isOptional ? input : new GraphQLNonNull(input), description } };
}
