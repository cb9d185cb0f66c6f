/** All types of a role's schema, which only introspection and descriptions of the schema need. `wholeSchema` is the library's schema, built at
 *  once. `reachedSchema` has of it what introspection reads, in steps: the library finds the types that the roots reach in one
 *  call, which takes seconds for the administrator of a large document.
 *  Not here: the root types (build.ts), writing introspection (plan/introspection.ts). Source: graphql-js, `GraphQLSchema`. */
import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLIncludeDirective,
  GraphQLInt,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLObjectType,
  GraphQLSchema,
  GraphQLSkipDirective,
  type GraphQLType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  __Schema as SchemaType,
} from 'graphql';
import { finish, type Steps } from '../metadata/steps.ts';
import { buildRoots, type Roots } from './build.ts';
import type { SchemaBuilder } from './builder.ts';
import { nodeTables } from './node.ts';
import { remoteObjects } from './remote-schema.ts';

/** The part of a schema that introspection reads. Its types are a list: the library's object with thousands of keys is slow to list. */
export type ReachedSchema = Pick<
  GraphQLSchema,
  | 'description'
  | 'getQueryType'
  | 'getMutationType'
  | 'getSubscriptionType'
  | 'getDirectives'
  | 'getPossibleTypes'
> & {
  /** All types by name. */
  readonly types: ReadonlyMap<string, GraphQLNamedType>;
};

/** Returns the schema with every type the roots reach. */
export function wholeSchema(builder: SchemaBuilder): GraphQLSchema {
  return new GraphQLSchema({
    ...finish(configOf(builder)),
    // Names were validated when tables were tracked; validating the schema again takes longer than building it.
    assumeValid: true,
  });
}

/** Returns the same schema for introspection. A type is a step. Throws when two types have the same name. */
export function* reachedSchema(builder: SchemaBuilder): Steps<ReachedSchema> {
  const config = yield* configOf(builder);
  const { query, mutation, subscription, types, directives } = config;
  const reached = new Map<string, GraphQLNamedType>();
  const waiting: GraphQLNamedType[] = [];
  const add = (type: GraphQLType): void => {
    const named = getNamedType(type);
    const other = reached.get(named.name);
    if (other === named) return;
    if (other) throw new Error(`the schema has two types named "${named.name}"`);
    reached.set(named.name, named);
    waiting.push(named);
  };
  const roots = [query, mutation, subscription].filter((type) => type !== null);
  for (const type of [...types, ...roots, SchemaType]) add(type);
  for (const { args } of directives) for (const { type } of args) add(type);
  for (let type = waiting.pop(); type; type = waiting.pop()) {
    for (const referred of referredTypes(type)) add(referred);
    yield;
  }
  return schemaOf(config, reached);
}

function schemaOf(
  { query, mutation, subscription, directives }: Config,
  types: ReadonlyMap<string, GraphQLNamedType>,
): ReachedSchema {
  const implementations = (type: GraphQLInterfaceType): readonly GraphQLObjectType[] =>
    [...types.values()].filter(isObjectType).filter((object) => object.getInterfaces().includes(type));
  return {
    types,
    description: undefined,
    getQueryType: () => query,
    getMutationType: () => mutation,
    getSubscriptionType: () => subscription,
    getDirectives: () => directives,
    getPossibleTypes: (type) => (isUnionType(type) ? type.getTypes() : implementations(type)),
  };
}

/** Returns the types that a type names. */
function* referredTypes(type: GraphQLNamedType): Iterable<GraphQLType> {
  if (isUnionType(type)) yield* type.getTypes();
  if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) yield field.type;
  if (!isObjectType(type) && !isInterfaceType(type)) return;
  yield* type.getInterfaces();
  for (const field of Object.values(type.getFields())) {
    yield field.type;
    for (const { type } of field.args) yield type;
  }
}

type Config = Roots & {
  readonly types: readonly GraphQLNamedType[];
  readonly directives: readonly GraphQLDirective[];
};

function* configOf(builder: SchemaBuilder): Steps<Config> {
  return {
    ...(yield* buildRoots(builder)),
    // These types may be reachable only through an interface.
    types: [...nodeTables(builder).map((table) => builder.objectType(table)), ...remoteObjects(builder)],
    directives: [GraphQLIncludeDirective, GraphQLSkipDirective, CACHED],
  };
}

/** The directive that tells proxies how long to cache the response of a REST endpoint; the engine ignores it elsewhere.
 *  Reference: docs/reference/behaviour/queries.md. */
const CACHED = new GraphQLDirective({
  name: 'cached',
  description: 'whether the answer to this query may be kept',
  locations: [DirectiveLocation.QUERY],
  args: {
    ttl: {
      type: new GraphQLNonNull(GraphQLInt),
      description: 'for how many seconds',
      default: { value: 60 },
    },
    refresh: {
      type: new GraphQLNonNull(GraphQLBoolean),
      description: 'whether a kept answer is made again',
      default: { value: false },
    },
  },
});
