/** Writes that no statement can do in a Citus cluster, whoever asks for them. In: a table, the condition on its rows, the distributions. Out:
 *  whether they work, and the permissions of a source without those whose writes never would. Not here: the refusal of a request
 *  (plan/on-cluster.ts), the statements of the others (sql/distributed-write.ts). */
import { fail } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { DeletePermission, UpdatePermission } from '../metadata/schema/permission.ts';
import type { Table } from '../metadata/schema/table.ts';
import type { PartialSource, ResolveContext } from './context.ts';
import {
  clusterOf,
  type DistributionLookup,
  distributionsOf,
  type RowsDistribution,
} from './distributions.ts';
import { permissionSubject } from './inconsistency.ts';
import type { TableAccess } from './model/access.ts';
import type { ResolvedTable } from './model/table.ts';
import { isOfRow } from './own-part.ts';
import { and, type Predicate } from './predicate.ts';
import { rowsReadBy } from './rows-read.ts';

/** True when an insert can update existing rows by the condition. Citus supports conditions on the row only, unless it knows none of the
 *  tables. */
export function updatesConflicts(
  cluster: DistributionLookup,
  { table }: Pick<ResolvedTable, 'table'>,
  where: Predicate,
): boolean {
  if (isOfRow(where)) return true;
  return [table, ...rowsReadBy(where).map((read) => read.table)].every((each) => isUnknown(cluster(each)));
}

/** True unless the table is a local one that Citus does not know, and the condition reads tables that it knows. */
export function writesBy(
  cluster: DistributionLookup,
  { table }: Pick<ResolvedTable, 'table'>,
  where: Predicate,
): boolean {
  if (!isUnknown(cluster(table))) return true;
  return rowsReadBy(where).every((read) => isUnknown(cluster(read.table)));
}

/** True when Citus plans inserts into the table, and updates existing rows by conditions on their own columns only. */
export function isPlannedByCitus(
  cluster: DistributionLookup,
  { table }: Pick<ResolvedTable, 'table'>,
): boolean {
  return !isUnknown(cluster(table));
}

/** Citus leaves a table that it does not know to Postgres. */
function isUnknown(distribution: RowsDistribution | null): boolean {
  return distribution === null || (distribution.kind === 'local' && !distribution.isInCluster);
}

/** Returns the reason why rows of the table cannot be written, and what to do. */
export function unknownTable({ table }: Pick<ResolvedTable, 'table'>): string {
  const name = printQualified(table);
  return `rows of "${name}" cannot be written because the condition on them reads tables of a Citus cluster, which does not know this table. Run select citus_add_local_table_to_metadata('${name}')`;
}

/** Returns the source without permissions to update or delete rows by a condition with which no such write works. Each is an inconsistency. */
export function withClusterWrites(
  at: PartialSource,
  { options, memo, found }: ResolveContext,
): PartialSource {
  const cluster = clusterOf({ distributions: memo.of(distributionsOf, at.catalog) });
  if (!cluster) return at;
  /** True when the permission was refused. */
  const isRefused = (
    kind: 'update' | 'delete',
    table: ResolvedTable,
    permission: UpdatePermission | DeletePermission,
  ): boolean => {
    const access = table.permissions.get(permission.role);
    const filter = access?.[kind]?.filter;
    if (!filter) return false;
    const reached = options.strictWrites && access.select ? and(filter, access.select.filter) : filter;
    if (writesBy(cluster, table, reached)) return false;
    found.attempt(permissionSubject(kind, table, permission), () => {
      fail('distributionUnsupported', { text: unknownTable(table) }, { path: ['permission', 'filter'] });
    });
    return true;
  };
  const permitted = (table: ResolvedTable, definition: Table): ResolvedTable => {
    const refused = (kind: 'update' | 'delete', of: readonly (UpdatePermission | DeletePermission)[] = []) =>
      new Set(of.filter((each) => isRefused(kind, table, each)).map(({ role }) => role));
    const updates = refused('update', definition.update_permissions);
    const deletions = refused('delete', definition.delete_permissions);
    // A table that stays as it is keeps what was derived from it.
    if (updates.size + deletions.size === 0) return table;
    const permissions = [...table.permissions].map(([role, access]): [string, TableAccess] => [
      role,
      {
        ...access,
        update: updates.has(role) ? null : access.update,
        delete: deletions.has(role) ? null : access.delete,
      },
    ]);
    return { ...table, permissions: new Map(permissions) };
  };
  const tables = [...at.tables].map(
    ([key, table]) => [key, permitted(table, at.definitions.get(key)!)] as const,
  );
  return { ...at, tables: new Map(tables) };
}
