/** The arguments of a native query in a role's schema. Its root field and rows are built like a table's (table.ts). Not here:
 *  the code (resolve/native-query.ts). Reference: docs/reference/behaviour/functions.md. */
import { type GraphQLFieldConfigArgumentMap, GraphQLNonNull } from 'graphql';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { nativeArgumentsTypeName } from '../resolve/names.ts';
import type { SchemaBuilder } from './builder.ts';
import { inputExtensions } from './origin.ts';

/** Returns `args`; nothing for a table or a query without arguments. */
export function nativeArguments(builder: SchemaBuilder, table: ResolvedTable): GraphQLFieldConfigArgumentMap {
  const declared = table.native?.arguments ?? [];
  if (declared.length === 0) return {};
  const description = `${table.table.name} Native Query Arguments`;
  const input = builder.input(nativeArgumentsTypeName(table), {
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
  const isOptional = declared.every((argument) => argument.isNullable);
  return { args: { type: isOptional ? input : new GraphQLNonNull(input), description } };
}
