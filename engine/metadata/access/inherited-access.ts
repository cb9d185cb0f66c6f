/** The permissions that roles have, their own or through the roles that they inherit from, as definitions that can be compared.
 *  In: the objects of a document. Out: the definition that applies to a role, by the key that its own permission would have. Selections are
 *  united; permissions to write and remote schemas are inherited when the parents agree, which is decided by their text, so parents that
 *  agree in other words count as disagreeing. Pure.
 *  Not here: the same on resolved accesses, which requests are planned with (resolve/inherited-roles.ts). */
import { isRecord, isSameJson, type JsonRecord } from '../../json/value.ts';
import { orderRoles } from '../inherited-roles.ts';
import { type MetadataObject, type ObjectKind, objectKey, parseKey } from '../objects.ts';
import type { InheritedRole } from '../schema/policy.ts';
import { cellsOf } from './cells.ts';
import { alternatives, filterTerm, textOfTerm } from './filter.ts';

export type Objects = ReadonlyMap<string, MetadataObject>;

/** The role that no role may inherit from. */
const ADMIN_ROLE = 'admin';

/** A permission that a role has. `unclear`: its parents disagree, so neither it nor a role that inherits from it has the permission. */
type Held = JsonRecord | 'unclear' | undefined;

/** How a role gets a permission from those of its parents. `lent` is never empty. */
type Inheriting = (lent: readonly JsonRecord[]) => Held;

const INHERITING: Partial<Record<ObjectKind, Inheriting>> = {
  select_permission: unionOf,
  logical_model_permission: unionOf,
  insert_permission: agreed,
  update_permission: agreed,
  delete_permission: agreed,
  remote_schema_permission: agreed,
  function_permission: ([first]) => first,
  action_permission: ([first]) => first,
};

const NO_PARENTS: ReadonlyMap<string, readonly string[]> = new Map();

/** The permissions of a document by key, inherited ones included. */
export class EffectivePermissions {
  readonly #objects: Objects;
  /** A role may be reached by many ways through its parents. */
  readonly #known = new Map<string, Held>();
  /** The parents of each role that inherits: without roles in a cycle, and roles with a parent that nothing names. */
  readonly parents: ReadonlyMap<string, readonly string[]>;

  constructor(objects: Objects) {
    this.#objects = objects;
    this.parents = parentsIn(objects);
  }

  /** Returns the definition of the permission that applies to the role of the key; undefined when the role has none. */
  definitionOf(key: string): unknown {
    const held = this.#heldBy(key);
    return held === 'unclear' ? undefined : held;
  }

  /** True when the role has the permission through its parents. */
  isInherited(key: string): boolean {
    return !this.#objects.has(key) && this.definitionOf(key) !== undefined;
  }

  /** Returns the roles that the role inherits from, at any distance. */
  ancestorsOf(role: string): ReadonlySet<string> {
    const all = new Set<string>();
    const add = (child: string): void => {
      for (const parent of this.parents.get(child) ?? []) {
        if (all.has(parent)) continue;
        all.add(parent);
        add(parent);
      }
    };
    add(role);
    return all;
  }

  #heldBy(key: string): Held {
    const own = this.#objects.get(key);
    if (own) return own.definition as JsonRecord;
    if (!this.#known.has(key)) this.#known.set(key, this.#inheritedBy(key));
    return this.#known.get(key);
  }

  #inheritedBy(key: string): Held {
    const identity = parseKey(key);
    const inheriting = identity && INHERITING[identity.kind];
    const parents = identity && this.parents.get(identity.segments.at(-1)!);
    if (!inheriting || !parents) return undefined;
    const held = parents.map((parent) => this.#heldBy(withRole(key, parent)));
    if (held.includes('unclear')) return 'unclear';
    const lent = held.filter((one): one is JsonRecord => isRecord(one));
    return lent.length === 0 ? undefined : inheriting(lent);
  }
}

/** Returns the key of the same permission of another role. */
export function withRole(key: string, role: string): string {
  const { kind, segments } = parseKey(key)!;
  return objectKey(kind, ...segments.slice(0, -1), role);
}

/** Returns the role of the key of a permission; undefined for other objects. */
export function roleOfPermission(key: string): string | undefined {
  const identity = parseKey(key);
  return identity && identity.kind in INHERITING ? identity.segments.at(-1) : undefined;
}

function parentsIn(objects: Objects): ReadonlyMap<string, readonly string[]> {
  const keys = [...objects.keys()];
  const inherited = keys
    .filter((key) => key.startsWith('inherited_role/'))
    .map((key) => objects.get(key)!.definition as InheritedRole);
  if (inherited.length === 0) return NO_PARENTS;
  const named = new Set([
    ...inherited.map(({ role_name }) => role_name),
    ...keys.flatMap((key) => roleOfPermission(key) ?? []),
  ]);
  const isFit = ({ role_set }: InheritedRole) =>
    role_set.every((parent) => named.has(parent) && parent !== ADMIN_ROLE);
  return new Map(
    orderRoles(inherited)
      .ordered.filter(isFit)
      .map(({ role_name, role_set }) => [role_name, role_set]),
  );
}

function agreed(lent: readonly JsonRecord[]): Held {
  const [first, ...others] = lent.map(({ comment: _, role: __, ...rest }) => rest);
  return others.every((other) => isSameRule(first, other)) ? lent[0] : 'unclear';
}

/** True for equal rules, whatever the order of columns and of the parts of conditions. */
function isSameRule(a: unknown, b: unknown): boolean {
  return isSameJson(ordered(a), ordered(b));
}

function ordered(rule: unknown): unknown {
  if (!isRecord(rule)) return rule;
  return Object.fromEntries(
    Object.entries(rule).map(([name, value]) => {
      if (name === 'filter' || name === 'check') return [name, textOfTerm(filterTerm(value))];
      if (name === 'columns' && Array.isArray(value)) return [name, value.toSorted()];
      return [name, name === 'permission' ? ordered(value) : value];
    }),
  );
}

/** Returns the permission to select what one of the permissions selects. No permission that people write has its `cells`. */
function unionOf(lent: readonly JsonRecord[]): JsonRecord {
  const [first, ...others] = lent;
  if (others.length === 0) return first!;
  const rules = lent.map(({ permission }) => (isRecord(permission) ? permission : {}));
  const limits = rules.map(({ limit }) => limit);
  const filter = alternatives(rules.map((rule) => rule['filter']));
  const permission = {
    columns: unitedOrAll(rules.map(({ columns }) => columns ?? '*')) ?? '*',
    computed_fields: united(rules.map((rule) => rule['computed_fields'])),
    filter,
    cells: cellsOf(rules, filter),
    // A parent without a limit lifts the limits of the others.
    limit: limits.every((limit) => typeof limit === 'number') ? Math.max(...limits) : undefined,
    allow_aggregations: rules.some((rule) => rule['allow_aggregations'] === true),
    query_root_fields: unitedOrAll(rules.map((rule) => rule['query_root_fields'])),
    subscription_root_fields: unitedOrAll(rules.map((rule) => rule['subscription_root_fields'])),
  };
  return { permission };
}

function united(lists: readonly unknown[]): readonly unknown[] {
  return [...new Set(lists.flatMap((list) => (Array.isArray(list) ? list : [])))];
}

/** Returns undefined when one of the lists is not a list, which stands for all. */
function unitedOrAll(lists: readonly unknown[]): readonly unknown[] | undefined {
  return lists.every(Array.isArray) ? united(lists) : undefined;
}
