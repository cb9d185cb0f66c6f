/** Model × role → GraphQLSchema: the roots, gathered from the concepts. A role that may do nothing gets a schema that says
 *  so, never an error. Not here: when it is built (role-schemas.ts). Reference: features.md rows 2–4, 9, 10. */
import { GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import type { SchemaBuilder } from './builder.ts';
import { mutationRoots } from './mutation.ts';
import { type FieldMap, fieldExtensions } from './origin.ts';
import { tableRoots } from './table.ts';

export function buildSchema(builder: SchemaBuilder): GraphQLSchema {
  const queries = tableRoots(builder, 'query');
  const mutations = mutationRoots(builder);
  const subscriptions = tableRoots(builder, 'subscription');
  return new GraphQLSchema({
    query: rootType('query_root', isEmpty(queries) ? PLACEHOLDER : queries),
    mutation: isEmpty(mutations) ? null : rootType('mutation_root', mutations),
    subscription: isEmpty(subscriptions) ? null : rootType('subscription_root', subscriptions),
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

function rootType(name: string, fields: FieldMap): GraphQLObjectType {
  return new GraphQLObjectType({ name, fields });
}

function isEmpty(fields: FieldMap): boolean {
  return Object.keys(fields).length === 0;
}
