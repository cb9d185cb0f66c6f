/** Writes that no statement can do in a Citus cluster, refused before they are sent. In: a table, the condition on its rows. Raises
 *  `distributionUnsupported`. Not here: the statements of the others (sql/distributed-write.ts). */
import { fail } from '../errors/engine-error.ts';
import { printQualified, type QualifiedName } from '../metadata/schema/common.ts';
import { clusterOf, type RowsDistribution } from '../resolve/distributions.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { isOfRow } from '../resolve/own-part.ts';
import type { Predicate } from '../resolve/predicate.ts';
import { rowsReadBy } from '../resolve/rows-read.ts';
import type { PlanContext } from './context.ts';

/** Refuses an insert that updates rows which exist by a condition on other rows or on a call. Citus supports only conditions on the row, unless it
 *  knows none of the tables. */
export function refuseConflict(
  { table, source }: ResolvedTable,
  where: Predicate,
  context: PlanContext,
): void {
  const isUnknown = unknownIn(source, context);
  if (!isUnknown || isOfRow(where)) return;
  if ([table, ...rowsReadBy(where).map((read) => read.table)].every(isUnknown)) return;
  const text = `rows of "${printQualified(table)}" that exist cannot be updated by an insert because the condition on them reads other rows, which a Citus cluster does not support. Update them by themselves`;
  fail('distributionUnsupported', { text });
}

/** Refuses to write rows of a local table that Citus does not know by a condition on rows of tables that it knows. */
export function refuseUnknown(
  { table, source }: ResolvedTable,
  where: Predicate,
  context: PlanContext,
): void {
  const isUnknown = unknownIn(source, context);
  if (!isUnknown?.(table) || rowsReadBy(where).every((read) => isUnknown(read.table))) return;
  const name = printQualified(table);
  const text = `rows of "${name}" cannot be written because the condition on them reads tables of a Citus cluster, which does not know this table. Run select citus_add_local_table_to_metadata('${name}')`;
  fail('distributionUnsupported', { text });
}

/** Returns whether Citus does not know a table, which it then leaves to Postgres; null for a source that is no cluster. */
function unknownIn(source: string, context: PlanContext): ((table: QualifiedName) => boolean) | null {
  const distributionOf = clusterOf(context.document.role.model.sources.get(source));
  return distributionOf && ((table) => isUnknown(distributionOf(table)));
}

function isUnknown(distribution: RowsDistribution | null): boolean {
  return distribution === null || (distribution.kind === 'local' && !distribution.isInCluster);
}
