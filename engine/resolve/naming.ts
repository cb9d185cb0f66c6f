/** How a source spells its names in GraphQL: its naming convention, and the prefixes, suffixes and namespace of its customization.
 *  In: the customization of a source. Out: a Naming, and names composed of parts. `default` joins parts with underscores;
 *  `graphql-default` spells fields in camelCase and types in PascalCase. Names that the metadata chooses are kept as written.
 *  Not here: the names of a table (names.ts), conflicts (conflicts.ts). Reference: docs/reference/behaviour/schema.md. */
import type { NamingConvention, SourceCustomization } from '../metadata/schema/source.ts';

/** A part of a name. Text is in snake case and follows the naming convention; verbatim text is kept. */
export type Part = string | { readonly verbatim: string };

type Affixes = { readonly prefix: string; readonly suffix: string };

export type Naming = {
  readonly convention: NamingConvention;
  /** The root field that contains the root fields of the source; null when there is none. */
  readonly namespace: string | null;
  readonly rootFields: Affixes;
  readonly typeNames: Affixes;
  readonly names: FixedNames;
};

/** Names of fields and arguments that are the same for every table but differ between the conventions. */
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

/** The spelling of each fixed name, by its name in the default convention. */
type FixedNames = Readonly<Record<(typeof FIXED_NAMES)[number], string>>;

const NAMES: Readonly<Record<NamingConvention, FixedNames>> = {
  default: fixedNames('default'),
  'graphql-default': fixedNames('graphql-default'),
};

/** Returns the naming of a source. `standard` is the convention of sources that name none; undefined when conventions are off. */
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

/** Returns the name of a field, argument or operator: `author_by_pk`, `authorByPk`. */
export function fieldName(naming: Pick<Naming, 'convention'>, ...parts: readonly Part[]): string {
  return spell(naming.convention, parts, lowerFirst);
}

/** Returns the name of a root field with the prefix and suffix of the source. */
export function rootFieldName(naming: Naming, name: string): string {
  return affixed(naming.convention, naming.rootFields, name);
}

/** Returns the name of a type of the source: `author_bool_exp`, `AuthorBoolExp`. */
export function typeName(naming: Naming, ...parts: readonly Part[]): string {
  return affixed(naming.convention, naming.typeNames, sharedTypeName(naming, ...parts));
}

/** Returns the name of a type that sources of one convention share, such as a type of a scalar. No customization changes it. */
export function sharedTypeName(naming: Pick<Naming, 'convention'>, ...parts: readonly Part[]): string {
  return spell(naming.convention, parts, upperFirst);
}

/** Returns the name of an enum value: `asc_nulls_first`, `ASC_NULLS_FIRST`. */
export function enumValueName(naming: Naming, value: string): string {
  return naming.convention === 'default' ? value : value.toUpperCase();
}

export const NAMESPACE_KINDS = ['query', 'mutation_frontend', 'mutation_backend', 'subscription'] as const;
export type NamespaceKind = (typeof NAMESPACE_KINDS)[number];

/** Returns the name of the object type of a namespace. */
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

/** Splits a name into words. An underscore in front belongs to its word. */
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
