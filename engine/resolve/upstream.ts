/** A remote GraphQL schema as data: its introspection, or the part of it that a role sees. Names are those of the remote schema.
 *  Not here: parsing an introspection (introspection.ts) or a role's part (remote-permission.ts), our names of its types
 *  (remote-names.ts). */
import type { ConstValueNode } from 'graphql';

export type UpstreamSchema = {
  /** Types by name, without those of introspection. */
  readonly types: ReadonlyMap<string, UpstreamType>;
  /** The names of the root types. */
  readonly roots: Readonly<Record<UpstreamOperation, string | null>>;
};

export const UPSTREAM_OPERATIONS = ['query', 'mutation', 'subscription'] as const;
export type UpstreamOperation = (typeof UPSTREAM_OPERATIONS)[number];

export type UpstreamType = { readonly name: string; readonly description: string | null } & (
  | { readonly kind: 'scalar' }
  | { readonly kind: 'enum'; readonly values: readonly UpstreamValue[] }
  | {
      readonly kind: 'object' | 'interface';
      readonly fields: readonly UpstreamField[];
      readonly interfaces: readonly string[];
    }
  | { readonly kind: 'union'; readonly members: readonly string[] }
  | { readonly kind: 'input'; readonly fields: readonly UpstreamInput[] }
);

export type UpstreamComposite = Extract<UpstreamType, { kind: 'object' | 'interface' }>;

export type UpstreamValue = {
  readonly name: string;
  readonly description: string | null;
  readonly deprecation: string | null;
};

export type UpstreamField = UpstreamValue & {
  /** The type as GraphQL prints it: `[Int!]!`. */
  readonly type: string;
  readonly arguments: readonly UpstreamInput[];
};

/** An argument, or a field of an input object. */
export type UpstreamInput = {
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  /** The default value as GraphQL prints it. */
  readonly default: string | null;
  /** The value that the engine gives. The role does not see the argument. */
  readonly preset?: Preset;
};

/** The scalars of GraphQL itself, which a schema need not declare. */
export const BUILT_IN_SCALARS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

/** Returns the name of the type inside lists: `Int` for `[Int!]!`. */
export function namedType(type: string): string {
  return type.replaceAll(/[[\]!]/g, '');
}

/** Returns the type of the items of a list: `Int!` for `[Int!]!`; null when the type is no list. */
export function elementType(type: string): string | null {
  const nullable = nullableType(type);
  return nullable.startsWith('[') ? nullable.slice(1, -1) : null;
}

export function nullableType(type: string): string {
  return type.endsWith('!') ? type.slice(0, -1) : type;
}

/** True when a value must be given. */
export function isRequired({ type, default: standard }: UpstreamInput): boolean {
  return type.endsWith('!') && standard === null;
}

/** Returns every object type that a value of the composite type may have. */
export function possibleTypes(schema: UpstreamSchema, name: string): readonly string[] {
  const { types } = schema;
  if (types.get(name)?.kind === 'object') return [name];
  return [...subtypes(schema, name)].filter((each) => types.get(each)?.kind === 'object');
}

/** Returns the members of a union, or the types that implement an interface, which may be interfaces too. */
export function subtypes(schema: UpstreamSchema, name: string): ReadonlySet<string> {
  let ofSchema = subtypesOf.get(schema);
  if (!ofSchema) {
    ofSchema = allSubtypes(schema);
    subtypesOf.set(schema, ofSchema);
  }
  return ofSchema.get(name) ?? NO_NAMES;
}

type Subtypes = ReadonlyMap<string, ReadonlySet<string>>;

/** Found once for each schema: to look for the types of one interface among all types takes as long as for every interface. */
const subtypesOf = new WeakMap<UpstreamSchema, Subtypes>();

const NO_NAMES: ReadonlySet<string> = new Set();

function allSubtypes({ types }: UpstreamSchema): Subtypes {
  const found = new Map<string, Set<string>>();
  for (const type of types.values()) {
    if (type.kind === 'union') found.set(type.name, new Set(type.members));
    if (type.kind !== 'object' && type.kind !== 'interface') continue;
    for (const name of type.interfaces) {
      if (types.get(name)?.kind !== 'interface') continue;
      const ofInterface = found.get(name) ?? new Set();
      found.set(name, ofInterface.add(type.name));
    }
  }
  return found;
}

/** The value of an argument that the engine gives, from `@preset` in a permission. */
export type Preset =
  | { readonly kind: 'literal'; readonly value: ConstValueNode }
  /** A session variable by its lower-case name, read as the input type. */
  | { readonly kind: 'session'; readonly variable: string; readonly type: string }
  | { readonly kind: 'list'; readonly items: readonly Preset[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [name: string, preset: Preset])[] };
