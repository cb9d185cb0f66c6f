/** The types of arguments and results of actions: scalars, enums, input objects and objects of the metadata, with the
 *  relationships of objects to tables. Scalars of GraphQL and of Postgres need no declaration.
 *  In: custom_types × the tracked tables. Out: the types that fit, by name; a type that does not fit is an inconsistency, and so
 *  is every type that refers to it. Not here: actions (action.ts). Reference: docs/reference/behaviour/remote-schemas.md, docs/reference/behaviour/actions.md; docs/reference/behaviour/metadata.md. */

import { parseType, type TypeNode } from 'graphql';
import { SCALARS, scalarOf } from '../catalog/scalars.ts';
import { typeByName } from '../catalog/type-names.ts';
import type { Catalog, PgType } from '../catalog/types.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { CustomTypes } from '../metadata/schema/action.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { TakenNames } from './conflicts.ts';
import { customTypesSubject, type Inconsistencies } from './inconsistency.ts';
import type {
  ActionType,
  ActionTypes,
  CustomKey,
  CustomObject,
  CustomRelationship,
  CustomType,
  TypeUse,
} from './model/custom-type.ts';
import type { Unreached } from './model/inconsistency.ts';
import type { ResolvedTable } from './model/table.ts';
import { type JoinedPair, joinedPair } from './predicate.ts';
import { isUniqueOn } from './relationship.ts';

type CustomTypeScope = {
  /** The tables of each source, by its name. */
  readonly sources: ReadonlyMap<string, { readonly tables: ReadonlyMap<string, ResolvedTable> }>;
  readonly catalogs: Iterable<Catalog | Unreached>;
  readonly names: TakenNames;
};

export const GRAPHQL_SCALARS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

export function resolveCustomTypes(
  definition: CustomTypes,
  scope: CustomTypeScope,
  found: Inconsistencies,
): ActionTypes {
  const catalogs = [...scope.catalogs].flatMap((catalog) => ('error' in catalog ? [] : [catalog]));
  let declared = distinct(definition, scope, found);
  const find = (name: string): ActionType | undefined => declared.get(name) ?? databaseScalar(name, catalogs);
  const related = new Map((definition.objects ?? []).map((object) => [object.name, object]));
  for (;;) {
    const made = new Map<string, CustomType>();
    for (const type of declared.values()) {
      const problem = problemOf(type, find);
      const object = problem === null ? withRelationships(type, related.get(type.name), scope) : problem;
      if (typeof object !== 'string') made.set(type.name, object);
      else {
        const error = new EngineError('customTypesInvalid', { reason: object });
        found.add(customTypesSubject(definition, type.name), error);
      }
    }
    const isStable = made.size === declared.size;
    declared = made;
    if (isStable) return { declared, find };
  }
}

/** Returns the declared types by name, without those whose name is taken, or declared before. */
function distinct(
  definition: CustomTypes,
  { names }: CustomTypeScope,
  found: Inconsistencies,
): ReadonlyMap<string, CustomType> {
  const seen = new Set<string>();
  const types = declarations(definition).filter(({ name, kind }) => {
    const isFirst = seen.size < seen.add(name).size;
    const repeated = new EngineError('customTypesInvalid', { reason: `duplicate type names: "${name}"` });
    const conflict = isFirst ? names.addCustomType(name, kind) : repeated;
    if (conflict) found.add(customTypesSubject(definition, name), conflict);
    return conflict === null;
  });
  return new Map(types.map((type) => [type.name, type]));
}

/** Parses a reference to a type, such as `[Book!]`. Returns undefined for other text. */
export function typeUse(written: string): TypeUse | undefined {
  try {
    return useOf(parseType(written, { noLocation: true }));
  } catch {
    return undefined;
  }
}

/** Returns the fields that each object of an answer of the type must have; none for a type that is no object. */
export function requiredFields(
  { declared }: Pick<ActionTypes, 'declared'>,
  type: TypeUse,
): readonly string[] {
  const found = declared.get(namedIn(type));
  if (found?.kind !== 'object') return [];
  return found.fields.filter((field) => !field.type.isNullable).map(({ name }) => name);
}

/** Returns the name of the type inside all lists. */
export function namedIn(type: TypeUse): string {
  return type.kind === 'list' ? namedIn(type.item) : type.name;
}

function useOf(node: TypeNode, isNullable = true): TypeUse {
  switch (node.kind) {
    case 'NonNullType':
      return useOf(node.type, false);
    case 'ListType':
      return { kind: 'list', item: useOf(node.type), isNullable };
    case 'NamedType':
      return { kind: 'named', name: node.name.value, isNullable };
    default:
      return node satisfies never;
  }
}

type Problem = string;

/** Returns the declared types without relationships. */
function declarations(definition: CustomTypes): readonly CustomType[] {
  const fieldsOf = (fields: readonly { name: string; type: string; description?: string | null }[]) =>
    fields.map(({ name, type, description }) => ({
      name,
      type: typeUse(type) ?? { kind: 'named' as const, name: type, isNullable: true },
      description: description ?? null,
    }));
  return [
    // The scalars of GraphQL are there already; declared again, they are the same.
    ...(definition.scalars ?? []).flatMap(({ name, description }) => {
      return GRAPHQL_SCALARS.has(name)
        ? []
        : [{ kind: 'scalar' as const, name, description: description ?? null }];
    }),
    ...(definition.enums ?? []).map(({ name, description, values }) => ({
      kind: 'enum' as const,
      name,
      description: description ?? null,
      values: values.map((value) => ({
        name: value.value,
        description: value.description ?? null,
        isDeprecated: value.is_deprecated ?? false,
      })),
    })),
    ...(definition.input_objects ?? []).map(({ name, description, fields }) => {
      return { kind: 'input' as const, name, description: description ?? null, fields: fieldsOf(fields) };
    }),
    ...(definition.objects ?? []).map(({ name, description, fields }) => ({
      kind: 'object' as const,
      name,
      description: description ?? null,
      fields: fieldsOf(fields),
      relationships: [],
      keys: [],
    })),
  ];
}

function databaseScalar(name: string, catalogs: readonly Catalog[]): ActionType | undefined {
  const scalar =
    catalogs.map((catalog) => typeByName(name, catalog)).find((type) => type !== undefined) ?? null;
  if (scalar) return { kind: 'database', scalar: scalarOf(scalar) };
  const known = catalogs.length === 0 ? Object.values(SCALARS).find((row) => row.name === name) : undefined;
  return known && { kind: 'database', scalar: known };
}

function problemOf(type: CustomType, find: ActionTypes['find']): Problem | null {
  if (GRAPHQL_SCALARS.has(type.name)) return `the type "${type.name}" is one of GraphQL's own`;
  if (type.kind === 'scalar') return null;
  if (type.kind === 'enum') {
    if (type.values.length === 0) return `the enum "${type.name}" has no values`;
    const values = duplicates(type.values);
    return values === null ? null : `the enum type "${type.name}" has duplicate values: ${values}`;
  }
  const owner = `the ${type.kind === 'input' ? 'input object' : 'object'} "${type.name}"`;
  if (type.fields.length === 0) return `${owner} has no fields`;
  const fields = duplicates(type.fields);
  if (fields !== null) return `${owner} has duplicate fields: ${fields}`;
  const where = `${type.kind === 'input' ? ' input object' : ' object type'} "${type.name}"`;
  for (const { name, type: use } of type.fields) {
    const used = namedIn(use);
    if (GRAPHQL_SCALARS.has(used)) continue;
    const known = find(used);
    if (!known) return `the type "${used}" for field "${name}" in ${where} does not exist`;
    const wrong = type.kind === 'input' ? 'object' : 'input';
    if (known.kind === wrong) {
      return `the type "${used}" for field "${name}" in ${where} is ${wrong === 'input' ? 'an input object' : 'an object'} type`;
    }
  }
  return null;
}

/** Returns the names that occur more than once, quoted; null when there are none. */
export function duplicates(named: readonly { readonly name: string }[]): string | null {
  const names = named.map(({ name }) => name);
  const repeated = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  return repeated.size === 0 ? null : [...repeated].map((name) => `"${name}"`).join(', ');
}

type DeclaredObject = NonNullable<CustomTypes['objects']>[number];
type DeclaredRelationship = NonNullable<DeclaredObject['relationships']>[number];

function withRelationships(
  type: CustomType,
  declared: DeclaredObject | undefined,
  scope: CustomTypeScope,
): CustomType | Problem {
  if (type.kind !== 'object' || !declared) return type;
  const keys: CustomKey[] = [];
  const relationships: CustomRelationship[] = [];
  for (const definition of declared.relationships ?? []) {
    const resolved = resolveRelationship(type, definition, keys, scope);
    if (typeof resolved === 'string') return resolved;
    relationships.push(resolved);
  }
  return { ...type, relationships, keys };
}

/** Resolves a relationship and adds the keys that it joins by to `keys`. */
function resolveRelationship(
  object: CustomType & CustomObject,
  definition: DeclaredRelationship,
  keys: CustomKey[],
  scope: CustomTypeScope,
): CustomRelationship | Problem {
  const { name, type: kind, remote_table: table, source = 'default' } = definition;
  const where = `relationship "${name}" in object type "${object.name}"`;
  if (object.fields.some((field) => field.name === name)) {
    return `the object type "${object.name}" has a field and a relationship named "${name}"`;
  }
  const target = scope.sources.get(source)?.tables.get(qualifiedKey(table));
  if (!target) {
    return `the table "${printQualified(table)}" of source "${source}" for ${where} is not tracked`;
  }
  const mapping: JoinedPair[] = [];
  for (const [field, column] of Object.entries(definition.field_mapping)) {
    const declared = object.fields.find((each) => each.name === field);
    if (!declared) return `the field "${field}" for ${where} does not exist`;
    if (declared.type.kind === 'list') return `the type of the field "${field}" for ${where} is a list type`;
    const remote = target.columnByName.get(column);
    if (!remote) return `the column "${column}" of the table for ${where} does not exist`;
    mapping.push(joinedPair({ name: keyFor(field, remote.type, keys), type: remote.type }, remote));
  }
  if (mapping.length === 0) return `the field mapping of ${where} is empty`;
  const isUnique = isUniqueOn(
    target,
    mapping.map(([, column]) => column),
  );
  const join = { table: target.table, mapping, isUnique };
  const relationship = { kind, name, join, isNullable: true, insertion: 'after' as const, comment: null };
  return { source, relationship };
}

function keyFor(field: string, type: PgType, keys: CustomKey[]): string {
  const known = keys.find((key) => {
    return key.field === field && key.type.schema === type.schema && key.type.name === type.name;
  });
  if (known) return known.column;
  const column = `k${keys.length}`;
  keys.push({ column, field, type });
  return column;
}
