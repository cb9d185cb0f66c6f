/** Model × role → the root types, gathered from the concepts. A role that may do nothing gets a schema that says so, never
 *  an error. Not here: when it is built (role-schemas.ts). Reference: features.md rows 2–4, 9, 10, 12. */
import {
  GraphQLIncludeDirective,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLSkipDirective,
  GraphQLString,
} from 'graphql';
import { type NamespaceKind, namespaceTypeName } from '../resolve/naming.ts';
import type { ResolvedSource } from '../resolve/types.ts';
import { actionRoots } from './action.ts';
import type { SchemaBuilder } from './builder.ts';
import { functionRoots } from './function.ts';
import { mutationRoots } from './mutation.ts';
import { nativeQueryRoots } from './native-query.ts';
import { type FieldMap, fieldExtensions } from './origin.ts';
import { tableRoots } from './table.ts';

export type Roots = {
  readonly query: GraphQLObjectType;
  readonly mutation: GraphQLObjectType | null;
  readonly subscription: GraphQLObjectType | null;
};

export function buildRoots(builder: SchemaBuilder): Roots {
  const query = {
    ...sourceFields(builder, 'query', (source) => ({
      ...tableRoots(builder, source, 'query'),
      ...functionRoots(builder, source, 'query'),
      ...nativeQueryRoots(builder, source, 'query'),
    })),
    ...actionRoots(builder, 'query'),
  };
  const mutationKind = builder.mayUseBackendOnly ? 'mutation_backend' : 'mutation_frontend';
  const mutation = {
    ...sourceFields(builder, mutationKind, (source) => ({
      ...mutationRoots(builder, source),
      ...functionRoots(builder, source, 'mutation'),
    })),
    ...actionRoots(builder, 'mutation'),
  };
  const subscription = {
    ...sourceFields(builder, 'subscription', (source) => ({
      ...tableRoots(builder, source, 'subscription'),
      ...functionRoots(builder, source, 'query'),
      ...nativeQueryRoots(builder, source, 'subscription'),
    })),
    ...actionRoots(builder, 'subscription'),
  };
  return {
    query: rootType('query_root', query) ?? NO_QUERIES,
    mutation: rootType('mutation_root', mutation),
    subscription: rootType('subscription_root', subscription),
  };
}

/** The fields of every source; those of a source with a namespace are in one field of that name. */
function sourceFields(
  builder: SchemaBuilder,
  kind: NamespaceKind,
  fieldsOf: (source: ResolvedSource) => FieldMap,
): FieldMap {
  const maps = [...builder.model.sources.values()].map((source): FieldMap => {
    const fields = fieldsOf(source);
    const { namespace } = source.naming;
    if (namespace === null || Object.keys(fields).length === 0) return fields;
    const type = new GraphQLObjectType({ name: namespaceTypeName(source.naming, kind), fields });
    return { [namespace]: { type, extensions: fieldExtensions({ kind: 'namespace' }) } };
  });
  return Object.assign({}, ...maps);
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
