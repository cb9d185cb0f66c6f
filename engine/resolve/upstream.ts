/** A remote GraphQL schema as data: what its introspection says, or the part of it that a role sees. Names are the remote's own.
 *  Out: the types, and what references to them mean. Not here: reading an introspection (introspection.ts), reading a role's
 *  part (remote-permission.ts), what its types are called here (remote-names.ts). */
import type { ConstValueNode } from 'graphql';

export type UpstreamSchema = {
  /** By name, without those of introspection. */
  readonly types: ReadonlyMap<string, UpstreamType>;
  /** Names of its root types. */
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
  /** As GraphQL prints it: `[Int!]!`. */
  readonly type: string;
  readonly arguments: readonly UpstreamInput[];
};

/** An argument, or a field of an input object. */
export type UpstreamInput = {
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  /** As GraphQL prints the value. */
  readonly default: string | null;
  /** Given by the engine, and hidden from the role. */
  readonly preset?: Preset;
};

/** Types of GraphQL itself, which a schema need not declare. */
export const BUILT_IN_SCALARS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

/** `[Int!]!` is about `Int`. */
export function namedType(type: string): string {
  return type.replaceAll(/[[\]!]/g, '');
}

/** `[Int!]!` is a list, or null, of `Int!`; null: no list. */
export function elementType(type: string): string | null {
  const nullable = nullableType(type);
  return nullable.startsWith('[') ? nullable.slice(1, -1) : null;
}

export function nullableType(type: string): string {
  return type.endsWith('!') ? type.slice(0, -1) : type;
}

/** Must it be given? */
export function isRequired({ type, default: standard }: UpstreamInput): boolean {
  return type.endsWith('!') && standard === null;
}

/** Every object type that a value of the composite type may be of. */
export function possibleTypes({ types }: UpstreamSchema, name: string): readonly string[] {
  const type = types.get(name);
  if (type?.kind === 'object') return [name];
  if (type?.kind === 'union') return type.members;
  if (type?.kind !== 'interface') return [];
  return [...types.values()].flatMap((each) =>
    each.kind === 'object' && each.interfaces.includes(name) ? [each.name] : [],
  );
}

export type Preset =
  | { readonly kind: 'literal'; readonly value: ConstValueNode }
  /** `variable` by its lower-case name, read as the input type it stands at. */
  | { readonly kind: 'session'; readonly variable: string; readonly type: string }
  | { readonly kind: 'list'; readonly items: readonly Preset[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [name: string, preset: Preset])[] };
