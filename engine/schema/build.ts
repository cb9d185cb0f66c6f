/** Model × role → the root types, gathered from the concepts. A role that may do nothing gets a schema that says so, never
 *  an error. Not here: when it is built (role-schemas.ts). Reference: features.md rows 2–4, 9, 10. */
import {
  GraphQLIncludeDirective,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLSkipDirective,
  GraphQLString,
} from 'graphql';
import type { SchemaBuilder } from './builder.ts';
import { functionRoots } from './function.ts';
import { mutationRoots } from './mutation.ts';
import { type FieldMap, fieldExtensions } from './origin.ts';
import { tableRoots } from './table.ts';

export type Roots = {
  readonly query: GraphQLObjectType;
  readonly mutation: GraphQLObjectType | null;
  readonly subscription: GraphQLObjectType | null;
};

export function buildRoots(builder: SchemaBuilder): Roots {
  return {
    query:
      rootType('query_root', { ...tableRoots(builder, 'query'), ...functionRoots(builder, 'query') }) ??
      NO_QUERIES,
    mutation: rootType('mutation_root', { ...mutationRoots(builder), ...functionRoots(builder, 'mutation') }),
    subscription: rootType('subscription_root', {
      ...tableRoots(builder, 'subscription'),
      ...functionRoots(builder, 'query'),
    }),
  };
}

/** Every type the roots reach, for introspection. */
export function wholeSchema(roots: Roots): GraphQLSchema {
  return new GraphQLSchema({
    ...roots,
    directives: [GraphQLIncludeDirective, GraphQLSkipDirective],
    // Names come from the database and were checked when tables were tracked; checking again costs more than building.
    assumeValid: true,
  });
}

const PLACEHOLDER: FieldMap = {
  no_queries_available: {
    type: new GraphQLNonNull(GraphQLString),
    description:
      "There are no queries available to the current role. Either there are no sources or remote schemas configured, or the current role doesn't have the required permissions.",
    extensions: fieldExtensions({ kind: 'placeholder' }),
  },
};

const NO_QUERIES = new GraphQLObjectType({ name: 'query_root', fields: PLACEHOLDER });

function rootType(name: string, fields: FieldMap): GraphQLObjectType | null {
  if (Object.keys(fields).length === 0) return null;
  return new GraphQLObjectType({ name, fields });
}
