/** Inherited roles over whole sources: who inherits, in which order, and what of each table and native query.
 *  Not here: what comes of the permissions of several parents (role.ts). Reference: docs/reference/behaviour/permissions.md. */
import { EngineError } from '../errors/engine-error.ts';
import { cycleAmong, orderRoles } from '../metadata/inherited-roles.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { InheritedRole } from '../metadata/schema/policy.ts';
import { type Inconsistencies, inheritedConflict, inheritedRoleSubject } from './inconsistency.ts';
import { mapValues } from './map-values.ts';
import { inheritAccess } from './role.ts';
import { ADMIN_ROLE } from './session.ts';
import type { PartialSource } from './stages.ts';

/** Roles that inherit, parents first; not those with a parent nobody knows, nor those in a cycle. */
export function heirsOf(
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
    const error = new EngineError('parentRolesNotFound', { roles: missing, role: role.role_name });
    found.add(inheritedRoleSubject(role), error);
    return false;
  });
}

export function withInherited(
  at: PartialSource,
  heirs: readonly InheritedRole[],
  found: Inconsistencies,
): PartialSource {
  if (heirs.length === 0) return at;
  const tables = mapValues(at.tables, (table) => {
    const definition = at.definitions.get(qualifiedKey(table.table))!;
    const permissions = inheritAccess(table.permissions, {
      heirs,
      hasOwn: (role, kind) => definition[`${kind}_permissions`]?.some((own) => own.role === role) ?? false,
      onConflict: (role, permission_type) => {
        const entity = { permission_type, source: at.name, table: printQualified(table.table) };
        found.all.push(inheritedConflict(role, entity));
      },
    });
    return { ...table, permissions };
  });
  const models = at.source.logical_models ?? [];
  const nativeQueries = mapValues(at.nativeQueries, (rows) => {
    const own = models.find(({ name }) => name === rows.native!.model)?.select_permissions ?? [];
    const hasOwn = (role: string) => own.some((permission) => permission.role === role);
    return { ...rows, permissions: inheritAccess(rows.permissions, { heirs, hasOwn, onConflict: () => {} }) };
  });
  return { ...at, tables, nativeQueries };
}
