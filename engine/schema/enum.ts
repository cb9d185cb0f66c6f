/** `T_enum`: the rows of an enum table as a GraphQL enum, for columns that refer to it. A role needs no permission on the
 *  enum table to see its values. Its internal values are those of the database.
 *  Not here: which columns are of an enum (resolve/enum.ts). Reference: docs/reference/behaviour/mutations.md, docs/reference/behaviour/functions.md. */
import { GraphQLEnumType } from 'graphql';
import type { ResolvedEnum } from '../resolve/types.ts';
import { enumExtensions } from './origin.ts';

export function enumType(resolved: ResolvedEnum): GraphQLEnumType {
  return new GraphQLEnumType({
    name: resolved.typeName,
    extensions: enumExtensions(resolved),
    values: Object.fromEntries(
      resolved.values.map(({ name, value, description }) => [name, { value, description }]),
    ),
  });
}
