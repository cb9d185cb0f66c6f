/** `get_role_access`: what a role may do with each table: the columns, and the permissions that grant it, those of inherited roles with the
 *  role that each comes from. Runs no statement.
 *  In: the model and the permissions as they are written. Out: the answer as JSON.
 *  Not here: one row (explain-access/). Reference: docs/reference/behaviour/permissions.md. */
import { textToWire } from '../metadata/header-prefix.ts';
import { objectKey } from '../metadata/objects.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import { withoutSecrets } from '../metadata/without-secrets.ts';
import { accessOf } from '../resolve/access.ts';
import { type GrantScope, grantsOf, OPERATIONS, type Operation, type RoleGrant } from '../resolve/grant.ts';
import type { SelectAccess, TableAccess } from '../resolve/model/access.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { TRUE } from '../resolve/predicate.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { withoutPermission } from '../why/grants.ts';
import type { Performer } from './request.ts';

export const getRoleAccess: Performer<'get_role_access'> = async (
  work,
  { role, type },
  { caller: { session } },
) => {
  await work.addedInconsistencies();
  const { model } = work.resolved;
  const inheritedRoles = work.metadata.inherited_roles ?? [];
  const parents = new Map(inheritedRoles.map(({ role_name, role_set }) => [role_name, role_set]));
  // Numbers in names are in their order: clerk2 before clerk10.
  const { compare } = new Intl.Collator('en', { numeric: true });
  const names = [...model.roles].filter((name) => name !== ADMIN_ROLE).toSorted(compare);
  const roles = [ADMIN_ROLE, ...names].map((name) => ({
    role: name,
    inherits_from: parents.get(name) ?? [],
  }));
  if (role === undefined) return () => ({ roles });
  const printing = {
    wire: (text: string) => textToWire(text, work.gateway.headerPrefix),
    isConsole: session.isConsole === true,
  };
  const withoutEffect = new Map(
    work.gateway.unenforced(work.metadata).map(({ key, reason }) => [key, reason]),
  );
  const tables = work.metadata.sources.flatMap((source) =>
    source.tables.flatMap((definition) => {
      const table = model.sources.get(source.name)?.tables.get(qualifiedKey(definition.table));
      if (!table || (type !== undefined && table.typeName !== type)) return [];
      const scope = { definition, table, inheritedRoles };
      const access = OPERATIONS.map((operation) => [
        operation,
        operationAccess(role, operation, scope, printing),
      ]);
      const { schema, name } = definition.table;
      const reason = withoutEffect.get(objectKey('table', source.name, schema, name));
      const notEnforced = reason !== undefined && { not_enforced: reason };
      return [
        { source: source.name, table: definition.table, ...notEnforced, ...Object.fromEntries(access) },
      ];
    }),
  );
  return () => ({ role, roles, tables });
};

/** Returns null when no permission says anything about the operation. */
function operationAccess(
  role: string,
  operation: Operation,
  scope: GrantScope,
  { wire, isConsole }: { readonly wire: (text: string) => string; readonly isConsole: boolean },
): object | null {
  const grants = grantsOf(role, operation, scope);
  const access = accessOf(scope.table, role)[operation];
  if (access === null && grants.length === 0) return null;
  const granted = { grants: grants.map((grant) => printGrant(grant, operation, isConsole)) };
  if (access !== null) {
    const rows = { every_row: reachesEveryRow(access) };
    return { is_allowed: true, ...rows, ...printAccess(access, scope.table), ...granted };
  }
  const reason = wire(withoutPermission({ args: { role }, table: scope.table, granted: scope }, operation));
  return { is_allowed: false, reason, ...granted };
}

/** Prints a permission, for the console secret without its secrets. */
function printGrant({ role, rule, access }: RoleGrant, operation: Operation, isConsole: boolean): object {
  const definition = { role, permission: rule };
  const shown = isConsole
    ? (withoutSecrets({ kind: `${operation}_permission`, definition }) as typeof definition)
    : definition;
  return { role, is_consistent: access !== null, permission: shown.permission };
}

/** Returns true when no condition keeps a row from the role. */
function reachesEveryRow(access: NonNullable<TableAccess[Operation]>): boolean {
  const conditions = [
    ...('filter' in access ? [access.filter] : []),
    ...('check' in access ? [access.check] : []),
  ];
  return conditions.every((condition) => condition === TRUE);
}

function printAccess(access: NonNullable<TableAccess[Operation]>, table: ResolvedTable): object {
  if ('cells' in access) return printSelect(access, table);
  return {
    ...('columns' in access && { columns: [...access.columns] }),
    ...('presets' in access && { presets: [...access.presets.keys()] }),
    backend_only: access.backendOnly,
  };
}

function printSelect(access: SelectAccess, table: ResolvedTable): object {
  const masked = [...access.cells.columns.keys()];
  return {
    columns: [...access.columns],
    fields: table.columns
      .filter(({ name }) => access.columns.has(name))
      .map(({ graphqlName }) => graphqlName),
    masked_columns: masked,
    masked_fields: [
      ...masked.map((name) => table.columnByName.get(name)!.graphqlName),
      ...access.cells.computedFields.keys(),
    ],
    computed_fields: access.computedFields && [...access.computedFields],
    limit: access.limit,
    allow_aggregations: access.allowsAggregation,
    query_root_fields: access.queryRootFields && [...access.queryRootFields],
    subscription_root_fields: access.subscriptionRootFields && [...access.subscriptionRootFields],
  };
}
