/** Requests for writes that no statement can do in a Citus cluster, refused before anything is sent. In: a table, the condition on its rows. Raises
 *  `distributionUnsupported`. Not here: which those are, and the permissions that never work (resolve/cluster-writes.ts). */
import { fail } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';
import { unknownTable, updatesConflicts, writesBy } from '../resolve/cluster-writes.ts';
import { clusterOf, type DistributionLookup } from '../resolve/distributions.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { Predicate } from '../resolve/predicate.ts';
import type { PlanContext } from './context.ts';

/** Refuses an insert that updates rows which exist by a condition on other rows or on a call. */
export function refuseConflict(table: ResolvedTable, where: Predicate, context: PlanContext): void {
  const cluster = clusterAt(table, context);
  if (!cluster || updatesConflicts(cluster, table, where)) return;
  const text = `rows of "${printQualified(table.table)}" that exist cannot be updated by an insert because the condition on them reads other rows, which a Citus cluster does not support. Update them by themselves`;
  fail('distributionUnsupported', { text });
}

/** Refuses to write rows of a local table that Citus does not know by a condition on rows of tables that it knows. */
export function refuseUnknown(table: ResolvedTable, where: Predicate, context: PlanContext): void {
  const cluster = clusterAt(table, context);
  if (cluster && !writesBy(cluster, table, where)) {
    fail('distributionUnsupported', { text: unknownTable(table) });
  }
}

/** Returns the cluster of a table's source; null when it is none. */
function clusterAt({ source }: ResolvedTable, context: PlanContext): DistributionLookup | null {
  return clusterOf(context.document.role.model.sources.get(source));
}
