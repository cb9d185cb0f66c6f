/** Model × role → the root types, from the root fields of all concepts. A role without permissions gets a schema that says so,
 *  never an error. In steps, one for each table.
 *  Not here: when schemas are built (role-schemas.ts), all types that the roots reach (whole-schema.ts). Reference: docs/reference/behaviour/schema.md. */
import { GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import type { Steps } from '../metadata/steps.ts';
import type { ResolvedSource } from '../resolve/model/source.ts';
import { type NamespaceKind, namespaceTypeName } from '../resolve/naming.ts';
import { actionRoots } from './action.ts';
import type { SchemaBuilder } from './builder.ts';
import { connectionRoots } from './connection.ts';
import { federationRoots } from './federation.ts';
import { functionRoots } from './function.ts';
import { mutationRoots } from './mutation.ts';
import { nodeRoot } from './node.ts';
import { type FieldMap, fieldExtensions } from './origin.ts';
import { remoteRoots } from './remote-schema.ts';
import { nativeQueryRoots, tableRoots } from './table.ts';

export type Roots = {
  readonly query: GraphQLObjectType;
  readonly mutation: GraphQLObjectType | null;
  readonly subscription: GraphQLObjectType | null;
};

export function* buildRoots(builder: SchemaBuilder): Steps<Roots> {
  const reads = yield* readFields(builder, 'query');
  const query = Object.keys(reads).length > 0 ? { ...reads, ...federationRoots(builder) } : reads;
  const mutationKind = builder.mayUseBackendOnly ? 'mutation_backend' : 'mutation_frontend';
  const mutation = {
    ...(yield* sourceFields(builder, mutationKind, function* (source) {
      return { ...(yield* mutationRoots(builder, source)), ...functionRoots(builder, source, 'mutation') };
    })),
    ...actionFields(builder, 'mutation'),
  };
  const subscription = yield* readFields(builder, 'subscription');
  return {
    query: rootType('query_root', { ...query, ...(yield* remoteRoots(builder, 'query')) }) ?? NO_QUERIES,
    mutation: rootType('mutation_root', { ...mutation, ...(yield* remoteRoots(builder, 'mutation')) }),
    subscription: rootType('subscription_root', {
      ...subscription,
      ...(yield* remoteRoots(builder, 'subscription')),
    }),
  };
}

function* readFields(builder: SchemaBuilder, operation: 'query' | 'subscription'): Steps<FieldMap> {
  const actions = actionFields(builder, operation);
  if (builder.isRelay) {
    const fields = yield* sourceFields(builder, operation, (source) => {
      return connectionRoots(builder, source, operation);
    });
    return { ...fields, ...actions, ...nodeRoot(builder, operation) };
  }
  const fields = yield* sourceFields(builder, operation, function* (source) {
    return {
      ...(yield* tableRoots(builder, source, operation)),
      ...functionRoots(builder, source, 'query'),
      ...nativeQueryRoots(builder, source, operation),
    };
  });
  return { ...fields, ...actions };
}

/** Returns the root fields of actions; none when a custom type has the name of a type of the Relay schema. */
function actionFields(builder: SchemaBuilder, operation: 'query' | 'mutation' | 'subscription'): FieldMap {
  const names = [...builder.model.customTypes.declared.keys()];
  return names.some((name) => builder.isTaken(name)) ? {} : actionRoots(builder, operation);
}

/** Returns the root fields of all sources. A source with a namespace has one field of that name, which holds its root fields. */
function* sourceFields(
  builder: SchemaBuilder,
  kind: NamespaceKind,
  fieldsOf: (source: ResolvedSource) => Steps<FieldMap>,
): Steps<FieldMap> {
  const maps: FieldMap[] = [];
  for (const source of builder.model.sources.values()) {
    const fields = yield* fieldsOf(source);
    const { namespace } = source.naming;
    if (namespace === null || Object.keys(fields).length === 0) {
      maps.push(fields);
      continue;
    }
    const type = new GraphQLObjectType({ name: namespaceTypeName(source.naming, kind), fields });
    maps.push({ [namespace]: { type, extensions: fieldExtensions({ kind: 'namespace' }) } });
  }
  return Object.assign({}, ...maps);
}

/** The only field of a schema without queries. */
export const PLACEHOLDER_FIELD = 'no_queries_available';

const PLACEHOLDER: FieldMap = {
  [PLACEHOLDER_FIELD]: {
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
