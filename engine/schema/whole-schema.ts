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
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  isWrappingType,
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
  /** The limit of an introspection: a quarter more characters than the standard introspection has. */
  readonly mostCharacters: number;
};

/** Returns the schema with every type the roots reach. The library gets all of them, and so does not look for them: it would follow a
 *  chain of thousands of types into a stack overflow. */
export function wholeSchema(builder: SchemaBuilder): GraphQLSchema {
  const config = finish(configOf(builder));
  return new GraphQLSchema({
    ...config,
    types: [...finish(reachedTypes(config)).values()],
    // Names were validated when tables were tracked; validating the schema again takes longer than building it.
    assumeValid: true,
  });
}

/** Returns the same schema for introspection. A type is a step. Throws when two types have the same name. */
export function* reachedSchema(builder: SchemaBuilder): Steps<ReachedSchema> {
  const config = yield* configOf(builder);
  const implementations = new Map<GraphQLInterfaceType, GraphQLObjectType[]>();
  let characters = LEAST_CHARACTERS;
  const types = yield* reachedTypes(config, (type) => {
    characters += MARGIN * charactersOf(type);
    if (!isObjectType(type)) return;
    for (const implemented of type.getInterfaces()) {
      const objects = implementations.get(implemented);
      if (objects) objects.push(type);
      else implementations.set(implemented, [type]);
    }
  });
  return schemaOf(config, types, implementations, Math.ceil(characters));
}

/** Returns the types by name. `visit` receives each while its fields are there. */
function* reachedTypes(
  { query, mutation, subscription, types, directives }: Config,
  visit: (type: GraphQLNamedType) => void = () => {},
): Steps<ReadonlyMap<string, GraphQLNamedType>> {
  const roots = [query, mutation, subscription].filter((type) => type !== null);
  const ofDirectives = directives.flatMap(({ args }) => args.map(({ type }) => type));
  const reached = new Map<string, GraphQLNamedType>();
  const add = (referred: GraphQLType) => {
    const type = getNamedType(referred);
    const other = reached.get(type.name);
    if (other && other !== type) throw new Error(`the schema has two types named "${type.name}"`);
    reached.set(type.name, type);
  };
  for (const type of [...types, ...roots, ...ofDirectives, SchemaType]) add(type);
  // The map grows while it is read.
  for (const type of reached.values()) {
    const drop = fieldsOnLoan(type);
    for (const referred of referredTypes(type)) add(referred);
    visit(type);
    drop();
    yield;
  }
  return reached;
}

/** Returns what drops the fields of a type that are built from now on; they are built again when they are read. Those of all types of a large
 *  schema take hundreds of megabytes. */
export function fieldsOnLoan(type: GraphQLNamedType): () => void {
  // The library keeps here the function that builds the fields, and then the fields.
  const holder = type as unknown as { _fields?: unknown };
  const build = holder._fields;
  return () => {
    if (typeof build === 'function') holder._fields = build;
  };
}

type Implementations = ReadonlyMap<GraphQLInterfaceType, readonly GraphQLObjectType[]>;

/** The characters of every schema beside its types: the types of introspection, directives, roots. */
const LEAST_CHARACTERS = 100_000;
/** The characters that a standard introspection writes of a field, argument or value without its texts and its type; of a type without its
 *  texts; of a reference to a type without its name; of each list and non-null around it. */
const [OF_NODE, OF_TYPE, OF_REFERENCE, OF_WRAPPER] = [110, 220, 60, 42];
/** The share that is added for tools that select more. */
const MARGIN = 1.25;

/** Returns about the number of characters that a standard introspection writes of a type. */
function charactersOf(type: GraphQLNamedType): number {
  let sum = OF_TYPE + described(type);
  if (isEnumType(type)) for (const value of type.getValues()) sum += described(value);
  if (isUnionType(type)) for (const member of type.getTypes()) sum += referred(member);
  if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) sum += described(field);
  if (!isObjectType(type) && !isInterfaceType(type)) return sum;
  // As an interface of the type, and as a possible type of the interface.
  for (const each of type.getInterfaces()) sum += referred(each) + referred(type);
  for (const field of Object.values(type.getFields())) {
    sum += described(field);
    for (const arg of field.args) sum += described(arg);
  }
  return sum;
}

type Described = {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly deprecationReason?: string | null | undefined;
  readonly type?: GraphQLType;
  readonly default?: unknown;
};

/** Escaping may double the length of a text. */
function described({ name, description, deprecationReason, type, default: standard }: Described): number {
  const texts = 2 * ((description?.length ?? 0) + (deprecationReason?.length ?? 0));
  const ofDefault = standard === undefined ? 0 : JSON.stringify(standard).length;
  return OF_NODE + name.length + texts + ofDefault + (type ? referred(type) : 0);
}

function referred(type: GraphQLType): number {
  return isWrappingType(type) ? OF_WRAPPER + referred(type.ofType) : OF_REFERENCE + type.name.length;
}

function schemaOf(
  { query, mutation, subscription, directives }: Config,
  types: ReadonlyMap<string, GraphQLNamedType>,
  implementations: Implementations,
  mostCharacters: number,
): ReachedSchema {
  return {
    types,
    mostCharacters,
    description: undefined,
    getQueryType: () => query,
    getMutationType: () => mutation,
    getSubscriptionType: () => subscription,
    getDirectives: () => directives,
    getPossibleTypes: (type) => (isUnionType(type) ? type.getTypes() : (implementations.get(type) ?? [])),
  };
}

/** Returns the types that a type names. */
function* referredTypes(type: GraphQLNamedType): Generator<GraphQLType> {
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
    types: [
      ...nodeTables(builder).map((table) => builder.objectType(table)),
      ...(yield* remoteObjects(builder)),
    ],
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
