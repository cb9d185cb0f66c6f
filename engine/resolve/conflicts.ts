/** The names of fields and types that are taken while sources, tables and functions are added to a model. Of two objects that
 *  would define the same field or type, the later one is left out. In: an object that resolved. Out: null, or the conflict that
 *  keeps it out. Not here: how names are composed (names.ts, naming.ts). Reference: docs/reference/behaviour/schema.md. */

import { EngineError } from '../errors/engine-error.ts';
import { LayeredMap } from '../metadata/layered-map.ts';
import { objectKey, parseKey } from '../metadata/objects.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { Steps } from '../metadata/steps.ts';
import { ENTITIES_FIELD, FEDERATION_FEATURE, FEDERATION_TYPES, SERVICE_FIELD } from './federation.ts';
import { takesArguments } from './function-call.ts';
import type { Memo } from './memo.ts';
import type { ResolvedAction } from './model/action.ts';
import type { CustomType } from './model/custom-type.ts';
import type { ResolvedComputedField, ResolvedFunction } from './model/function.ts';
import type { RemoteNames, ResolvedRemoteSchema } from './model/remote-schema.ts';
import type { ResolvedTable } from './model/table.ts';
import {
  computedTypeName,
  derivedTypeName,
  groupByField,
  isSchemaType,
  nativeArgumentsTypeName,
  type RootType,
  rootFieldsIn,
  typeNamesOf,
} from './names.ts';
import { NAMESPACE_KINDS, type NamespaceKind, type Naming, namespaceTypeName, namingOf } from './naming.ts';
import { fieldNameOf, typeNameOf } from './remote-names.ts';
import { isInputDefinition, type TypeDefinition, typeDefinition } from './type-definition.ts';
import {
  BUILT_IN_SCALARS,
  namedType,
  type UpstreamInput,
  type UpstreamOperation,
  type UpstreamType,
} from './upstream.ts';

/** Root types, in the order in which they are checked. */
const ROOT_TYPES = {
  mutation_root: 'mutation_frontend',
  subscription_root: 'subscription',
  query_root: 'query',
} as const satisfies Record<RootType, NamespaceKind>;

type Claims = {
  /** The key of the object. */
  readonly owner: string;
  readonly fields: (root: RootType) => readonly string[];
};

export class TakenNames {
  /** The owner of each field, by the name of its object type and its own name. An owner is the key of an object, or a part of the schema that
   *  the engine adds by itself (BUILT_IN). */
  readonly #fields = new Map<string, LayeredMap<string>>();
  #types = new LayeredMap<string>();
  /** Names of custom scalars, which may equal those of scalars of the database. */
  readonly #scalars = new Set<string>();
  /** Types of remote schemas, by our names. */
  readonly #remoteTypes = new Map<string, RemoteType>();
  readonly #features: ReadonlySet<string>;
  readonly #memo: Memo;

  constructor(features: ReadonlySet<string>, memo: Memo) {
    this.#features = features;
    this.#memo = memo;
    for (const root of ROOTS) for (const field of META_FIELDS) this.#fieldsOf(root).set(field, SCHEMA);
    if (!features.has(FEDERATION_FEATURE)) return;
    for (const field of [SERVICE_FIELD, ENTITIES_FIELD]) this.#fieldsOf('query_root').set(field, FEDERATION);
    for (const type of FEDERATION_TYPES) this.#types.set(type, FEDERATION);
  }

  /** Returns an equal object that changes on its own. */
  copy(): TakenNames {
    const copy = new TakenNames(this.#features, this.#memo);
    for (const [type, fields] of this.#fields) copy.#fields.set(type, fields.copy());
    copy.#types = this.#types.copy();
    for (const name of this.#scalars) copy.#scalars.add(name);
    for (const [name, type] of this.#remoteTypes) copy.#remoteTypes.set(name, type);
    return copy;
  }

  /** Takes the namespace field of the source, if it has one, and the types of the namespace. */
  addSource(name: string, naming: Naming): EngineError | null {
    const { namespace } = naming;
    if (namespace === null) return null;
    const claims = { owner: objectKey('source', name), fields: () => [namespace] };
    const types = NAMESPACE_KINDS.map((kind) => namespaceTypeName(naming, kind));
    return this.#add({ ...naming, namespace: null }, claims, types);
  }

  /** Takes the names of the table. On a conflict it takes none, and the error names the owners. */
  addTable(table: ResolvedTable): EngineError | null {
    return this.#add(table.naming, this.#claimsOf(table), this.#typeNamesOf(table));
  }

  /** Releases the names of the table. */
  removeTable(table: ResolvedTable): void {
    const { fields } = this.#claimsOf(table);
    for (const root of ROOTS) {
      const taken = this.#selection(root, table.naming).fields;
      for (const name of fields(root)) taken.delete(name);
    }
    for (const type of this.#typeNamesOf(table)) this.#types.delete(type);
  }

  /** Spelling the names is a great part of resolving a thousand tables. */
  #typeNamesOf(table: ResolvedTable): readonly string[] {
    return table.isUnnameable ? [] : this.#memo.of(typeNamesOf, table, this.#features);
  }

  #claimsOf(table: ResolvedTable): Claims {
    const owner = objectKey('table', table.source, table.table.schema, table.table.name);
    const grouped = this.#features.has('group_by') ? [groupByField(table)] : [];
    if (table.isUnnameable) return { owner, fields: () => [] };
    const fields = (root: RootType) => [
      ...rootFieldsIn(table, root),
      ...(root === 'mutation_root' ? [] : grouped),
    ];
    return { owner, fields };
  }

  /** Takes the names of a native query. Without relationships its rows have the type of the logical model, which other native
   *  queries may return too. The types of its conditions and orders always belong to the model. */
  addNativeQuery(rows: ResolvedTable, model: string, hasRelationships: boolean): EngineError | null {
    const owner = objectKey('native_query', rows.source, rows.table.name);
    const ofModel = NATIVE_TYPES.map((suffix) => derivedTypeName(rows, suffix));
    const own = rows.native?.arguments.length ? [nativeArgumentsTypeName(rows)] : [];
    (hasRelationships ? own : ofModel).push(rows.typeName);
    const fields = (root: RootType) => rootFieldsIn(rows, root);
    return (
      this.#addTypes(objectKey('logical_model', rows.source, model), ofModel) ??
      this.#add(rows.naming, { owner, fields }, own)
    );
  }

  addFunction(fn: ResolvedFunction, naming: Naming): EngineError | null {
    const owner = objectKey('function', fn.source, fn.function.schema, fn.function.name);
    const isThere = (root: RootType) => (root === 'mutation_root') === (fn.exposedAs === 'mutation');
    const names = [fn.aggregateRootField, fn.rootField];
    const fields = (root: RootType) =>
      !isThere(root) ? [] : root === 'mutation_root' ? [fn.rootField] : names;
    return this.#add(naming, { owner, fields }, takesArguments(fn) ? [fn.argsTypeName] : []);
  }

  /** Takes the types of a computed field that has arguments. */
  addComputedField(table: ResolvedTable, field: ResolvedComputedField): EngineError | null {
    if (!takesArguments(field)) return null;
    const { schema, name } = table.table;
    const owner = objectKey('computed_field', table.source, schema, name, field.name);
    const types = COMPUTED_TYPES[field.returns.kind].map((suffix) => computedTypeName(table, field, suffix));
    return this.#addTypes(owner, types);
  }

  /** Takes the names of an action. An asynchronous action has its field in every root type, where the result is read, and a type
   *  of the same name. */
  addAction({ name, type, isAsynchronous }: ResolvedAction): EngineError | null {
    const roots: readonly RootType[] = isAsynchronous ? ROOTS : [`${type}_root`];
    const fields = (root: RootType) => (roots.includes(root) ? [name] : []);
    return this.#add(NO_NAMING, { owner: objectKey('action', name), fields }, isAsynchronous ? [name] : []);
  }

  addCustomType(name: string, kind: CustomType['kind']): EngineError | null {
    // Another rule refuses these (custom-type.ts).
    if (BUILT_IN_SCALARS.has(name)) return null;
    const owner = customTypeKey(name);
    if (kind !== 'scalar') return this.#addTypes(owner, [name]);
    this.#scalars.add(name);
    const other = this.#ownerOf(name) ?? owner;
    return other === owner ? null : typeConflict(name, [owner, other]);
  }

  /** Owners of all types except scalars, by name. */
  get types(): Pick<LayeredMap<string>, 'has'> {
    return this.#types;
  }

  /** Takes the fields and types of a remote schema. On conflicts it takes none, and returns a text for each, and the keys of the objects
   *  that have the names. Types with equal definitions may have one name, and scalars only conflict with types that the schema has by
   *  itself. `definitionOf` finds the definition of a type of the engine. */
  addRemoteSchema(
    remote: ResolvedRemoteSchema,
    definitionOf: (type: string) => TypeDefinition | undefined,
  ): { readonly reasons: readonly string[]; readonly rivals: readonly string[] } {
    const owner = objectKey('remote_schema', remote.name);
    const wanted = ROOTS.map((root) => {
      return { type: root, fields: this.#fieldsOf(root), names: remoteFieldsIn(remote, root) };
    });
    const types = sharedTypes(remote);
    const found = [
      ...wanted.flatMap(({ fields, names }) => remoteFieldConflicts(owner, names, fields)),
      ...this.#remoteTypeConflicts(owner, new Map([...types, ...misnamedScalars(remote)]), definitionOf),
    ];
    const reasons = found.map(([, reason]) => reason);
    if (reasons.length > 0) return { reasons, rivals: rivalsAmong(found.map(([other]) => other)) };
    for (const [name, type] of types) {
      this.#types.set(name, owner);
      this.#remoteTypes.set(name, type);
    }
    for (const { fields, names } of wanted) for (const name of names) fields.set(name, owner);
    return { reasons, rivals: [] };
  }

  #remoteTypeConflicts(
    owner: string,
    types: ReadonlyMap<string, RemoteType>,
    definitionOf: (type: string) => TypeDefinition | undefined,
  ): readonly Conflict[] {
    return [...types].flatMap(([name, type]): Conflict[] => {
      const other = this.#ownerOf(name);
      if (other === undefined) return [];
      const known = this.#remoteTypes.get(name);
      const definition = known ? remoteDefinition(known) : definitionOf(name);
      if (definition === remoteDefinition(type)) return [];
      if (other === SCHEMA && !Object.hasOwn(ROOT_TYPES, name)) {
        // The schema has a type such as `order_by` only where something needs it.
        if (definition === undefined) return [];
        // Engines of one family compare values by types of the same names, with operators of their own.
        if (type.type.kind === 'input' && isInputDefinition(definition)) return [];
      }
      return [[other, typeConflictText(name, [owner, other])]];
    });
  }

  #add(naming: Naming, { owner, fields }: Claims, types: readonly string[]): EngineError | null {
    const wanted = ROOTS.map((root) => ({ ...this.#selection(root, naming), names: fields(root) }));
    const conflict = fieldConflict(wanted, owner);
    if (conflict) return conflict;
    const taken = this.#addTypes(owner, types);
    if (taken) return taken;
    for (const { fields, names } of wanted) for (const name of names) fields.set(name, owner);
    return null;
  }

  /** Checks and takes in one pass, because there are a hundred thousand names. A conflict releases the names taken so far. */
  #addTypes(owner: string, types: readonly string[]): EngineError | null {
    const taken: string[] = [];
    for (const type of types) {
      const other = this.#ownerOf(type);
      if (other === owner) continue;
      if (other !== undefined) {
        for (const name of taken) this.#types.delete(name);
        return typeConflict(type, [owner, other]);
      }
      this.#types.set(type, owner);
      taken.push(type);
    }
    return null;
  }

  #ownerOf(type: string): string | undefined {
    if (isSchemaType(type)) return this.#types.get(type) ?? SCHEMA;
    return this.#types.get(type) ?? (this.#scalars.has(type) ? customTypeKey(type) : undefined);
  }

  /** Returns the object type of the fields of a source, and the owners of its fields. */
  #selection(root: RootType, naming: Naming) {
    const type = naming.namespace === null ? root : namespaceTypeName(naming, ROOT_TYPES[root]);
    return { type, fields: this.#fieldsOf(type) };
  }

  #fieldsOf(type: string): LayeredMap<string> {
    const fields = this.#fields.get(type) ?? new LayeredMap<string>();
    this.#fields.set(type, fields);
    return fields;
  }
}

/** The owner of the fields and types that do not come from the metadata. */
const SCHEMA = 'the GraphQL schema';

/** The fields of introspection. GraphQL specification, "Schema Introspection". */
const META_FIELDS = ['__schema', '__type', '__typename'];

/** The owner of the fields and types of a subgraph. */
const FEDERATION = 'federation';

const BUILT_IN: ReadonlySet<string> = new Set([SCHEMA, FEDERATION]);

function customTypeKey(name: string): string {
  return objectKey('custom_type', name);
}

/** The suffixes of types named after a logical model. */
const NATIVE_TYPES = ['bool_exp', 'enum_name', 'order_by'];

/** The suffixes of types named after a computed field that takes arguments. */
const COMPUTED_TYPES = {
  scalar: ['args', 'comparison_exp', 'order_by'],
  rows: ['args', 'aggregate_order_by'],
} as const satisfies Record<ResolvedComputedField['returns']['kind'], readonly string[]>;

/** The naming of objects that belong to no source. */
const NO_NAMING = namingOf(undefined, undefined);

const ROOTS = Object.keys(ROOT_TYPES) as RootType[];

/** A type of a remote schema, and our names of its fields. */
type RemoteType = { readonly type: UpstreamType; readonly names: RemoteNames };

const OPERATIONS = {
  mutation_root: 'mutation',
  subscription_root: 'subscription',
  query_root: 'query',
} as const satisfies Record<RootType, UpstreamOperation>;

/** Returns the root fields of a remote schema, in our names. */
export function remoteFieldsIn({ schema, names }: ResolvedRemoteSchema, root: RootType): readonly string[] {
  const type = schema.types.get(schema.roots[OPERATIONS[root]] ?? '');
  if (type?.kind !== 'object') return [];
  if (names.namespace !== null) return [names.namespace];
  return type.fields.map((field) => fieldNameOf(names, type.name, field.name));
}

/** Returns the types that a remote schema adds to the engine's schema. Its root types are among them only in a namespace, or when a
 *  field returns them. */
function sharedTypes({ schema, names }: ResolvedRemoteSchema): ReadonlyMap<string, RemoteType> {
  const fields = [...schema.types.values()].flatMap((type) =>
    type.kind === 'object' || type.kind === 'interface' ? type.fields : [],
  );
  const returned = new Set(fields.map(({ type }) => namedType(type)));
  const hidden = new Set(names.namespace === null ? Object.values(schema.roots) : []);
  return new Map(
    [...schema.types.values()]
      .filter(({ kind, name }) => kind !== 'scalar' && (!hidden.has(name) || returned.has(name)))
      .map((type) => [typeNameOf(names, type.name), { type, names }]),
  );
}

/** Returns the scalars of a remote schema that have the names of other types of the engine's schema. */
function misnamedScalars({ schema, names }: ResolvedRemoteSchema): ReadonlyMap<string, RemoteType> {
  const scalars = [...schema.types.values()]
    .filter(({ kind }) => kind === 'scalar')
    .map((type) => [typeNameOf(names, type.name), { type, names }] as const);
  return new Map(scalars.filter(([name]) => isSchemaType(name) && !BUILT_IN_SCALARS.has(name)));
}

/** Returns the definition of a remote type, in our names. */
function remoteDefinition({ type, names }: RemoteType): TypeDefinition {
  const ours = (name: string) => typeNameOf(names, name);
  const reference = (text: string) => text.replace(namedType(text), ours(namedType(text)));
  const inputOf = (input: UpstreamInput) => ({ ...input, type: reference(input.type) });
  switch (type.kind) {
    case 'scalar':
      return '';
    case 'enum':
      return typeDefinition('enum', { values: type.values.map(({ name }) => name) });
    case 'union':
      return typeDefinition('union', { members: type.members.map(ours) });
    case 'input':
      return typeDefinition('input', { fields: type.fields.map(inputOf) });
    default:
      return typeDefinition(type.kind, {
        interfaces: type.interfaces.map(ours),
        fields: type.fields.map((field) => ({
          name: fieldNameOf(names, type.name, field.name),
          type: reference(field.type),
          arguments: field.arguments.map(inputOf),
        })),
      });
  }
}

function remoteFieldConflicts(
  owner: string,
  names: readonly string[],
  fields: Pick<LayeredMap<string>, 'get'>,
): readonly Conflict[] {
  const seen = new Set<string>();
  return names.flatMap((name): Conflict[] => {
    const isRepeated = seen.size === seen.add(name).size;
    const other = fields.get(name) ?? (isRepeated ? owner : undefined);
    if (other === undefined) return [];
    const reason = isRemote(other) ? 'Duplicate remote field' : 'Field cannot be overwritten by remote field';
    return [[other, `${reason} '${name}'`]];
  });
}

/** The owner of a name, and the text of the conflict with it. */
type Conflict = readonly [owner: string, reason: string];

function isRemote(owner: string): boolean {
  return parseKey(owner)?.kind === 'remote_schema';
}

/** `owners` are the object that wants the type, and the one that has it. */
function typeConflict(type: string, owners: readonly [string, string]): EngineError {
  return conflictError(typeConflictText(type, owners), [owners[1]]);
}

function conflictError(text: string, owners: readonly string[]): EngineError {
  return new EngineError('conflictingRootFields', { text }, [], undefined, { rivals: rivalsAmong(owners) });
}

/** Returns the keys among owners, without the parts of the schema that the engine adds. */
function rivalsAmong(owners: readonly string[]): readonly string[] {
  return [...new Set(owners)].filter((owner) => !BUILT_IN.has(owner));
}

/** Returns an owner as messages name it. */
function printOwner(owner: string): string {
  const { kind, segments } = parseKey(owner) ?? { kind: undefined, segments: [owner] };
  const [first = '', schema = '', name = '', field] = segments;
  switch (kind) {
    case undefined:
      return first;
    case 'custom_type':
      return 'custom types';
    case 'table':
    case 'function':
      return `${kind} ${printQualified({ schema, name })} in source ${first}`;
    case 'computed_field':
      return `${kind} ${field} in table ${printQualified({ schema, name })} in source ${first}`;
    case 'native_query':
    case 'logical_model':
      return `${kind} ${schema} in source ${first}`;
    default:
      return `${kind.replaceAll('_', ' ')} ${first}`;
  }
}

function typeConflictText(type: string, owners: readonly [string, string]): string {
  return (
    `Encountered conflicting definitions of the type '${type}' in ${printOwners(owners)}. ` +
    'Types must not be defined more than once across all sources.'
  );
}

/** The fields that an object needs in a type, and the owners of the fields of that type. */
type Wanted = {
  readonly type: string;
  readonly fields: Pick<LayeredMap<string>, 'get' | 'has'>;
  readonly names: readonly string[];
};

function fieldConflict(wanted: readonly Wanted[], owner: string): EngineError | null {
  for (const { type, fields, names } of wanted) {
    const isFree = !names.some((name) => fields.has(name)) && new Set(names).size === names.length;
    if (isFree) continue;
    const taken = names.flatMap((name, i) => {
      const other = fields.get(name) ?? (names.indexOf(name) < i ? owner : undefined);
      return other === undefined ? [] : [{ name, other }];
    });
    const lines = taken.map(({ name, other }) => `'${name}' defined in ${printOwners([owner, other])}`);
    return conflictError(
      conflictText(type, lines),
      taken.map(({ other }) => other),
    );
  }
  return null;
}

function printOwners(owners: readonly string[]): string {
  return `[${owners.map(printOwner).sort().join(', ')}]`;
}

function conflictText(type: string, taken: readonly string[]): string {
  const what =
    taken.length === 1 ? `field ${taken[0]}` : `fields: [${taken.map((line) => `\n  ${line}`).join(',')}\n]`;
  return (
    `Encountered conflicting definitions in the selection set for '${type}' for ${what}. ` +
    'Fields must not be defined more than once across all sources.'
  );
}

type TableNamesTaken = { readonly tables: ReadonlySet<ResolvedTable>; readonly names: TakenNames };

/** Takes the names of all tables at once and returns them, to be added to; undefined when two tables want the same name, or one
 *  table wants a name twice. While there is no conflict the order of the tables does not matter, so only the tables that changed
 *  since the previous resolution are taken and given back: a thousand tables have a hundred thousand names. */
export function* takeTableNames(
  tables: readonly ResolvedTable[],
  features: ReadonlySet<string>,
  memo: Memo,
): Steps<TakenNames | undefined> {
  const taken = yield* memo.nextInSteps(takeChanged, features, { tables, memo });
  return taken?.names.copy();
}

function* takeChanged(
  features: ReadonlySet<string>,
  { tables, memo }: { readonly tables: readonly ResolvedTable[]; readonly memo: Memo },
  last: TableNamesTaken = { tables: new Set(), names: new TakenNames(features, memo) },
): Steps<TableNamesTaken | undefined> {
  const wanted = new Set(tables);
  const kept = tables.filter((table) => last.tables.has(table));
  if (kept.length === tables.length && tables.length === last.tables.size) return last;
  // When most tables have changed, to begin anew is less work than to give back their names.
  const isNew = kept.length < last.tables.size / 2;
  const previous: TableNamesTaken = isNew
    ? { tables: new Set(), names: new TakenNames(features, memo) }
    : last;
  const names = previous.names.copy();
  for (const table of previous.tables) if (!wanted.has(table)) names.removeTable(table);
  for (const table of tables) {
    if (previous.tables.has(table)) continue;
    if (names.addTable(table)) return undefined;
    yield;
  }
  return { tables: wanted, names };
}
