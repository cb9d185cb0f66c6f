/** How one source spells its names in GraphQL: its naming convention, and what its customization puts around them.
 *  In: a source's customization. Out: a Naming, and names composed of parts by it. `default` joins parts with underscores;
 *  `graphql-default` has fields in camelCase and types in PascalCase. What somebody chose by hand is kept as it is written.
 *  Not here: which names a table has (names.ts), who may have a name (conflicts.ts). Source: docs/reference/behaviour/schema.md. */
import type { NamingConvention, SourceCustomization } from '../metadata/schema/source.ts';

/** Text is in snake case and may be respelled. */
export type Part = string | { readonly verbatim: string };

type Affixes = { readonly prefix: string; readonly suffix: string };

export type Naming = {
  readonly convention: NamingConvention;
  /** The root field all others of the source are in; null: they are roots themselves. */
  readonly namespace: string | null;
  readonly rootFields: Affixes;
  readonly typeNames: Affixes;
  readonly names: FixedNames;
};

/** Fields and arguments called the same in every table, where the conventions differ: the first column. */
const FIXED_NAMES = [
  'affected_rows',
  'batch_size',
  'distinct_on',
  'initial_value',
  'on_conflict',
  'order_by',
  'pk_columns',
  'update_columns',
] as const;

/** By the name in the default convention. */
export type FixedNames = Readonly<Record<(typeof FIXED_NAMES)[number], string>>;

const NAMES: Readonly<Record<NamingConvention, FixedNames>> = {
  default: fixedNames('default'),
  'graphql-default': fixedNames('graphql-default'),
};

/** `standard` is the convention of sources that name none; undefined: none may. */
export function namingOf(
  customization: SourceCustomization | undefined,
  standard: NamingConvention | undefined,
): Naming {
  const { root_fields, type_names, naming_convention } = customization ?? {};
  const convention = standard === undefined ? 'default' : (naming_convention ?? standard);
  return {
    convention,
    namespace: root_fields?.namespace ?? null,
    rootFields: { prefix: root_fields?.prefix ?? '', suffix: root_fields?.suffix ?? '' },
    typeNames: { prefix: type_names?.prefix ?? '', suffix: type_names?.suffix ?? '' },
    names: NAMES[convention],
  };
}

/** A field, argument or operator: `author_by_pk`, `authorByPk`. */
export function fieldName(naming: Pick<Naming, 'convention'>, ...parts: readonly Part[]): string {
  return spell(naming.convention, parts, lowerFirst);
}

/** A root field of the source, by the name it would have in another. */
export function rootFieldName(naming: Naming, name: string): string {
  return affixed(naming.convention, naming.rootFields, name);
}

/** A type of the source: `author_bool_exp`, `AuthorBoolExp`. */
export function typeName(naming: Naming, ...parts: readonly Part[]): string {
  return affixed(naming.convention, naming.typeNames, sharedTypeName(naming, ...parts));
}

/** A type that sources of one convention share, or that is about a scalar: no customization changes it. */
export function sharedTypeName(naming: Pick<Naming, 'convention'>, ...parts: readonly Part[]): string {
  return spell(naming.convention, parts, upperFirst);
}

/** `asc_nulls_first`, `ASC_NULLS_FIRST`. */
export function enumValueName(naming: Naming, value: string): string {
  return naming.convention === 'default' ? value : value.toUpperCase();
}

export const NAMESPACE_KINDS = ['query', 'mutation_frontend', 'mutation_backend', 'subscription'] as const;
export type NamespaceKind = (typeof NAMESPACE_KINDS)[number];

/** The object type that a namespace stands for. */
export function namespaceTypeName(naming: Naming, root: NamespaceKind): string {
  return affixed(naming.convention, naming.typeNames, `${naming.namespace}_${root}`);
}

function spell(
  convention: NamingConvention,
  parts: readonly Part[],
  first: (word: string) => string,
): string {
  if (convention === 'default') return parts.map(textOf).join('_');
  const [head = '', ...rest] = parts;
  const begin = typeof head === 'string' ? camel(head, first) : head.verbatim;
  return (
    begin + rest.map((part) => (typeof part === 'string' ? camel(part) : upperFirst(part.verbatim))).join('')
  );
}

function textOf(part: Part): string {
  return typeof part === 'string' ? part : part.verbatim;
}

function camel(text: string, first = upperFirst): string {
  return wordsOf(text)
    .map((word, i) => (i === 0 ? first(word) : upperFirst(word)))
    .join('');
}

/** An underscore in front belongs to its word. */
function wordsOf(text: string): readonly string[] {
  const [first = '', second, ...rest] = text.split('_');
  return second === undefined ? [first] : first === '' ? [`_${second}`, ...rest] : [first, second, ...rest];
}

function affixed(convention: NamingConvention, { prefix, suffix }: Affixes, name: string): string {
  if (convention === 'default') return prefix + name + suffix;
  return prefix + (prefix === '' ? name : upperFirst(name)) + upperFirst(suffix);
}

function upperFirst(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function lowerFirst(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}

function fixedNames(convention: NamingConvention): FixedNames {
  const entries = FIXED_NAMES.map((name) => [name, fieldName({ convention }, name)]);
  return Object.fromEntries(entries) as FixedNames;
}
