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
export function possibleTypes({ types }: UpstreamSchema, name: string): readonly string[] {
  const type = types.get(name);
  if (type?.kind === 'object') return [name];
  if (type?.kind === 'union') return type.members;
  if (type?.kind !== 'interface') return [];
  return [...types.values()].flatMap((each) =>
    each.kind === 'object' && each.interfaces.includes(name) ? [each.name] : [],
  );
}

/** The value of an argument that the engine gives, from `@preset` in a permission. */
export type Preset =
  | { readonly kind: 'literal'; readonly value: ConstValueNode }
  /** A session variable by its lower-case name, read as the input type. */
  | { readonly kind: 'session'; readonly variable: string; readonly type: string }
  | { readonly kind: 'list'; readonly items: readonly Preset[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [name: string, preset: Preset])[] };
