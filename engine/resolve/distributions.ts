/** The distributions of the tables of a source that is a Citus cluster. In: its catalog. Out: distributions by qualifiedKey. Not here: what
 *  statements do with them (sql/distribution.ts). */
import { type Distribution, printDistribution } from '../catalog/distribution.ts';
import type { Catalog } from '../catalog/types.ts';
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';

/** The distribution of a table or a view. The rows of a view are where those of its tables are, those of a local table on the coordinator. */
export type RowsDistribution = (Distribution | { readonly kind: 'view' } | LocalRows) & {
  /** The columns of the primary key; absent without one. */
  readonly key?: readonly string[];
};

/** `isInCluster` says that Citus knows the table, and plans its statements. */
type LocalRows = { readonly kind: 'local'; readonly isInCluster?: true };

export type Distributions = ReadonlyMap<string, RowsDistribution>;

/** Returns the distributions; null when the database is no cluster. */
export function distributionsOf({
  hasCitus,
  tables,
}: Pick<Catalog, 'hasCitus' | 'tables'>): Distributions | null {
  if (!hasCitus) return null;
  return new Map(
    [...tables].map(([name, { kind, distribution, isLocalInCluster, primaryKey }]) => {
      const local: LocalRows = { kind: 'local', ...(isLocalInCluster ? { isInCluster: true } : {}) };
      const rows: RowsDistribution = distribution ?? (kind === 'view' ? { kind } : local);
      return [name, primaryKey ? { ...rows, key: primaryKey.columns } : rows];
    }),
  );
}

/** Returns the text of a distribution; undefined for a view, whose tables have theirs. */
export function printRows(distribution: RowsDistribution | null | undefined): string | undefined {
  if (!distribution || distribution.kind === 'view') return undefined;
  return distribution.kind === 'local' ? 'a local table' : printDistribution(distribution);
}

/** Looks up the distribution of a table in a cluster; null for a table that the catalog does not have. */
export type DistributionLookup = (table: QualifiedName) => RowsDistribution | null;

/** Returns the distribution of each table of a source; null when it is no cluster. */
export function clusterOf(
  source: { readonly distributions: Distributions | null } | undefined,
): DistributionLookup | null {
  const distributions = source?.distributions;
  return distributions ? (table) => distributions.get(qualifiedKey(table)) ?? null : null;
}
