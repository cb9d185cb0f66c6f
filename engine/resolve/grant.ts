/** The permissions as they are written that give a role its access to a table: its own, or those of the roles that it inherits from.
 *  In: the table in the metadata and in the model. Out: grants, in the order of the parents.
 *  Not here: the union of inherited permissions (inherited-roles.ts). Reference: docs/reference/behaviour/permissions.md. */
import type { InheritedRole } from '../metadata/schema/policy.ts';
import type { Table } from '../metadata/schema/table.ts';
import type { TableAccess } from './model/access.ts';
import type { ResolvedTable } from './model/table.ts';
import { ADMIN_ROLE } from './session.ts';

export type Operation = keyof TableAccess;
export const OPERATIONS = ['select', 'insert', 'update', 'delete'] as const satisfies readonly Operation[];

/** The permission of one role. */
export type RoleGrant<O extends Operation = Operation> = {
  readonly role: string;
  /** The permission in the metadata. */
  readonly rule: Readonly<Record<string, unknown>>;
  /** The access that results; null for a permission that is inconsistent, or that the table does not allow. */
  readonly access: TableAccess[O] | null;
};

export type GrantScope = {
  readonly definition: Table;
  readonly table: ResolvedTable;
  readonly inheritedRoles: readonly InheritedRole[];
};

/** Returns the grants of an operation; none for the administrator, who needs none. */
export function grantsOf<O extends Operation>(
  role: string,
  operation: O,
  { definition, table, inheritedRoles }: GrantScope,
): readonly RoleGrant<O>[] {
  const seen = new Set<string>([ADMIN_ROLE]);
  const of = (name: string): readonly RoleGrant<O>[] => {
    if (seen.has(name)) return [];
    seen.add(name);
    const own = definition[`${operation}_permissions`]?.find((permission) => permission.role === name);
    if (own) {
      const access = table.permissions.get(name)?.[operation] ?? null;
      return [{ role: name, rule: own.permission, access }];
    }
    return inheritedRoles.find(({ role_name }) => role_name === name)?.role_set.flatMap(of) ?? [];
  };
  return of(role);
}
