/** Inherited roles: a role that inherits reads the rows of every parent. A column that only some parents grant is visible in their
 *  rows and null in others. Permissions to write are inherited only when the parents agree. A permission of the role itself
 *  replaces the inherited one.
 *  In: accesses by role (permission.ts). Out: the same with the accesses of inherited roles.
 *  Not here: the graph of roles (metadata/inherited-roles.ts). Reference: docs/reference/behaviour/permissions.md. */
import { EngineError } from '../errors/engine-error.ts';
import { cycleAmong, orderRoles } from '../metadata/inherited-roles.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { InheritedRole } from '../metadata/schema/policy.ts';
import type { Steps } from '../metadata/steps.ts';
import { NO_ACCESS } from './access.ts';
import { mapValues, type PartialSource } from './context.ts';
import { type Inconsistencies, inheritedConflict, inheritedRoleSubject } from './inconsistency.ts';
import type { SelectAccess, TableAccess } from './model/access.ts';
import type { InheritedWrite } from './model/inconsistency.ts';
import type { ResolvedTable } from './model/table.ts';
import { and, either, type Predicate, TRUE } from './predicate.ts';
import { ADMIN_ROLE } from './session.ts';

type Accesses = ReadonlyMap<string, TableAccess>;
type Written = InheritedWrite['permission_type'];

export type Inheritance = {
  /** The roles that inherit, each after its parents. */
  readonly inheritedRoles: readonly InheritedRole[];
  /** True when the role has a permission of its own, even one that does not resolve. */
  readonly hasOwn: (role: string, kind: 'select' | Written) => boolean;
  /** Called for a permission that a role does not inherit because its parents disagree. Roles that inherit from it do not have the
   *  permission either, and it is not called for them. */
  readonly onConflict: (role: string, kind: Written) => void;
};

/** Returns the accesses to one table, with the accesses of inherited roles. */
export function inheritAccess(own: Accesses, { inheritedRoles, hasOwn, onConflict }: Inheritance): Accesses {
  const accesses = new Map(own);
  const conflicts = new Set<string>();
  for (const { role_name: role, role_set: parents } of inheritedRoles) {
    const declared = accesses.get(role) ?? NO_ACCESS;
    const lent = parents.map((parent) => accesses.get(parent) ?? NO_ACCESS);
    const agreed = <K extends Written>(kind: K): TableAccess[K] => {
      if (hasOwn(role, kind)) return declared[kind];
      const distinct = distinctBy(lent.flatMap((access) => access[kind] ?? []));
      const isUnclear = parents.some((parent) => conflicts.has(`${kind} ${parent}`));
      if (distinct.length <= 1 && !isUnclear) return distinct[0] ?? null;
      conflicts.add(`${kind} ${role}`);
      if (isUnclear) return null;
      onConflict(role, kind);
      return null;
    };
    const selects = lent.flatMap((access) => access.select ?? []);
    const select = hasOwn(role, 'select') ? declared.select : unionOf(selects);
    const [insert, update, remove] = [agreed('insert'), agreed('update'), agreed('delete')];
    if (select || insert || update || remove) accesses.set(role, { select, insert, update, delete: remove });
  }
  return accesses;
}

/** Returns the roles, and those that inherit from one of them, at any distance. The order of `inheritedRoles` does not matter. */
export function withInheritedRoles(
  roles: ReadonlySet<string>,
  inheritedRoles: readonly InheritedRole[],
): ReadonlySet<string> {
  const all = new Set(roles);
  for (let size = -1; size < all.size; ) {
    size = all.size;
    for (const { role_name, role_set } of inheritedRoles) {
      if (role_set.some((parent) => all.has(parent))) all.add(role_name);
    }
  }
  return all;
}

function unionOf(selects: readonly SelectAccess[]): SelectAccess | null {
  const [only, ...others] = selects;
  if (!only) return null;
  if (others.length === 0) return only;
  const filter = either(selects.map((select) => select.filter));
  const limits = selects.map((select) => select.limit);
  return {
    columns: unite(selects.map((select) => select.columns)),
    computedFields: unite(selects.map((select) => select.computedFields ?? new Set())),
    cells: {
      columns: cellsOf(selects, 'columns'),
      computedFields: cellsOf(selects, 'computedFields'),
    },
    filter,
    // A parent without a limit lifts the limits of the others.
    limit: limits.some((limit) => limit === null) ? null : Math.max(...limits.map(Number)),
    allowsAggregation: selects.some((select) => select.allowsAggregation),
    queryRootFields: uniteOrAll(selects.map((select) => select.queryRootFields)),
    subscriptionRootFields: uniteOrAll(selects.map((select) => select.subscriptionRootFields)),
  };
}

/** Returns the columns that only some parents grant, each with the rows in which it is visible. A column that all parents grant
 *  needs no condition, because every readable row is readable by a parent that grants it. */
function cellsOf(
  selects: readonly SelectAccess[],
  kind: 'columns' | 'computedFields',
): ReadonlyMap<string, Predicate> {
  const names = unite(selects.map((select) => select[kind] ?? new Set()));
  const cells = [...names].map((name): [string, Predicate] => {
    const granting = selects.filter((select) => select[kind]?.has(name));
    if (granting.length === selects.length && !granting.some((select) => select.cells[kind].has(name))) {
      return [name, TRUE];
    }
    return [name, either(granting.map((select) => and(select.filter, select.cells[kind].get(name) ?? TRUE)))];
  });
  return new Map(cells.filter(([, visibleIf]) => visibleIf !== TRUE));
}

function unite(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

function uniteOrAll(sets: readonly (ReadonlySet<string> | null)[]): ReadonlySet<string> | null {
  const listed = sets.flatMap((set) => set ?? []);
  return listed.length < sets.length ? null : unite(listed);
}

function distinctBy<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [canonical(value), value])).values()];
}

/** Returns a text that is equal for values of equal meaning: sets and the parts of a conjunction or disjunction have no order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => {
    if (item instanceof Map) return [...item].sort(([a], [b]) => (a < b ? -1 : 1));
    if (item instanceof Set) return [...item].sort();
    if ((key === 'all' || key === 'any') && Array.isArray(item)) return item.map(canonical).sort();
    return item;
  });
}

/** Returns the roles that inherit, each after its parents, without roles with an unknown parent and without cycles. */
export function inheritedRolesOf(
  metadata: Metadata,
  roles: ReadonlySet<string>,
  found: Inconsistencies,
): readonly InheritedRole[] {
  const { ordered, stuck } = orderRoles(metadata.inherited_roles ?? []);
  for (const role of stuck) {
    found.add(inheritedRoleSubject(role), new EngineError('cyclicRoles', { roles: cycleAmong(stuck) }));
  }
  return ordered.filter((role) => {
    const missing = role.role_set.filter((parent) => !roles.has(parent) || parent === ADMIN_ROLE);
    if (missing.length === 0) return true;
    const known = () => [...roles].filter((name) => name !== ADMIN_ROLE && name !== role.role_name);
    const misnamed = { name: missing[0]!, known };
    const params = { roles: missing, role: role.role_name };
    const error = new EngineError('parentRolesNotFound', params, [], undefined, { misnamed });
    found.add(inheritedRoleSubject(role), error);
    return false;
  });
}

/** Yields after each table. */
export function* withInheritedPermissions(
  at: PartialSource,
  inheritedRoles: readonly InheritedRole[],
  found: Inconsistencies,
): Steps<PartialSource> {
  if (inheritedRoles.length === 0) return at;
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const definition = at.definitions.get(qualifiedKey(table.table))!;
    const permissions = inheritAccess(table.permissions, {
      inheritedRoles,
      hasOwn: (role, kind) => definition[`${kind}_permissions`]?.some((own) => own.role === role) ?? false,
      onConflict: (role, permission_type) => {
        const entity = { permission_type, source: at.name, table: printQualified(table.table) };
        found.all.push(inheritedConflict(role, entity));
      },
    });
    tables.set(key, { ...table, permissions });
    yield;
  }
  const models = at.source.logical_models ?? [];
  const nativeQueries = mapValues(at.nativeQueries, (rows) => {
    const own = models.find(({ name }) => name === rows.native!.model)?.select_permissions ?? [];
    const hasOwn = (role: string) => own.some((permission) => permission.role === role);
    return {
      ...rows,
      permissions: inheritAccess(rows.permissions, { inheritedRoles, hasOwn, onConflict: () => {} }),
    };
  });
  return { ...at, tables, nativeQueries };
}
