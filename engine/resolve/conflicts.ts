/** Names already given, while sources, tables and functions are added one after the other: of two that would define the
 *  same field or type, the later one gives way. In: what resolved. Out: nothing, or the conflict that keeps it out.
 *  Not here: how names are made (names.ts, naming.ts). Source: features.md row 15. */
import { EngineError } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { ResolvedAction } from './action.ts';
import { groupByField, type RootType, rootFieldsIn, typeNamesOf } from './names.ts';
import { NAMESPACE_KINDS, type NamespaceKind, type Naming, namespaceTypeName, namingOf } from './naming.ts';
import type { ResolvedFunction, ResolvedTable } from './types.ts';

/** In the order in which they are looked at. */
const ROOT_TYPES = {
  mutation_root: 'mutation_frontend',
  subscription_root: 'subscription',
  query_root: 'query',
} as const satisfies Record<RootType, NamespaceKind>;

type Claims = {
  readonly owner: string;
  /** Whose types they are, when several may claim them. */
  readonly typeOwner?: string;
  readonly fields: (root: RootType) => readonly string[];
};

export class NameSpace {
  /** Owners of fields, by the name of the object type they are in and their own. */
  readonly #fields = new Map<string, Map<string, string>>();
  readonly #types = new Map<string, string>();
  readonly #features: ReadonlySet<string>;

  constructor(features: ReadonlySet<string>) {
    this.#features = features;
  }

  /** Takes the field that holds all others of the source, if there is one, and its types. */
  addSource(name: string, naming: Naming): EngineError | null {
    const { namespace } = naming;
    if (namespace === null) return null;
    const claims = { owner: `source ${name}`, fields: () => [namespace] };
    const types = NAMESPACE_KINDS.map((kind) => namespaceTypeName(naming, kind));
    return this.#add({ ...naming, namespace: null }, claims, types);
  }

  /** Takes the table's names, or none of them: then the error says which are taken and by whom. */
  addTable(table: ResolvedTable): EngineError | null {
    const owner = `table ${printQualified(table.table)} in source ${table.source}`;
    const grouped = this.#features.has('group_by') ? [groupByField(table)] : [];
    const fields = (root: RootType) => [
      ...rootFieldsIn(table, root),
      ...(root === 'mutation_root' ? [] : grouped),
    ];
    return this.#add(table.naming, { owner, fields }, typeNamesOf(table, this.#features));
  }

  /** Without relationships its rows have the type of the logical model, which others may return too. */
  addNativeQuery(rows: ResolvedTable, model: string, hasRelationships: boolean): EngineError | null {
    const owner = `native_query ${rows.table.name} in source ${rows.source}`;
    const typeOwner = hasRelationships ? owner : `logical_model ${model} in source ${rows.source}`;
    const claims = { owner, typeOwner, fields: (root: RootType) => rootFieldsIn(rows, root) };
    return this.#add(rows.naming, claims, [rows.typeName]);
  }

  addFunction(fn: ResolvedFunction, naming: Naming): EngineError | null {
    const owner = `function ${printQualified(fn.function)} in source ${fn.source}`;
    const isThere = (root: RootType) => (root === 'mutation_root') === (fn.exposedAs === 'mutation');
    const names = fn.returnsSet ? [fn.aggregateRootField, fn.rootField] : [fn.rootField];
    const fields = (root: RootType) =>
      !isThere(root) ? [] : root === 'mutation_root' ? [fn.rootField] : names;
    return this.#add(naming, { owner, fields }, []);
  }

  /** Its field is also where the answer is found when it is asynchronous, and names the type of that. */
  addAction({ name, type, isAsynchronous }: ResolvedAction): EngineError | null {
    const roots: readonly RootType[] = isAsynchronous ? ROOTS : [`${type}_root`];
    const fields = (root: RootType) => (roots.includes(root) ? [name] : []);
    return this.#add(NO_NAMING, { owner: `action ${name}`, fields }, isAsynchronous ? [name] : []);
  }

  addCustomType(name: string): EngineError | null {
    return this.#add(NO_NAMING, { owner: 'custom types', fields: () => [] }, [name]);
  }

  #add(naming: Naming, claims: Claims, types: readonly string[]): EngineError | null {
    const typeOwner = claims.typeOwner ?? claims.owner;
    const wanted = ROOTS.map((root) => ({ ...this.#selection(root, naming), names: claims.fields(root) }));
    const conflict = fieldConflict(wanted, claims.owner) ?? this.#typeConflict(typeOwner, types);
    if (conflict) return new EngineError('conflictingRootFields', { text: conflict });
    for (const type of types) this.#types.set(type, typeOwner);
    for (const { fields, names } of wanted) for (const name of names) fields.set(name, claims.owner);
    return null;
  }

  #typeConflict(owner: string, types: readonly string[]): string | null {
    const type = types.find((name) => (this.#types.get(name) ?? owner) !== owner);
    if (type === undefined) return null;
    return (
      `Encountered conflicting definitions of the type '${type}' in ` +
      `[${[owner, this.#types.get(type)!].sort().join(', ')}]. ` +
      'Types must not be defined more than once across all sources.'
    );
  }

  /** The object type where the source's fields are, and who has them. */
  #selection(root: RootType, naming: Naming) {
    const type = naming.namespace === null ? root : namespaceTypeName(naming, ROOT_TYPES[root]);
    const fields = this.#fields.get(type) ?? new Map<string, string>();
    this.#fields.set(type, fields);
    return { type, fields };
  }
}

/** Of what belongs to no source. */
const NO_NAMING = namingOf(undefined, undefined);

const ROOTS = Object.keys(ROOT_TYPES) as RootType[];

/** Fields wanted in an object type, and who has which of its fields. */
type Wanted = {
  readonly type: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly names: readonly string[];
};

function fieldConflict(wanted: readonly Wanted[], owner: string): string | null {
  for (const { type, fields, names } of wanted) {
    const isFree = !names.some((name) => fields.has(name)) && new Set(names).size === names.length;
    if (isFree) continue;
    const taken = names.flatMap((name, i) => {
      const other = fields.get(name) ?? (names.indexOf(name) < i ? owner : undefined);
      return other === undefined ? [] : [`'${name}' defined in [${[owner, other].sort().join(', ')}]`];
    });
    return conflictText(type, taken);
  }
  return null;
}

function conflictText(type: string, taken: readonly string[]): string {
  const what =
    taken.length === 1 ? `field ${taken[0]}` : `fields: [${taken.map((line) => `\n  ${line}`).join(',')}\n]`;
  return (
    `Encountered conflicting definitions in the selection set for '${type}' for ${what}. ` +
    'Fields must not be defined more than once across all sources.'
  );
}
