/** What a Citus cluster has made of each table, read from the catalogs of its coordinator. A database without the extension is not asked.
 *  In: anything with `query`. Out: distributions by the oid of the table; a local table has none. Not here: what statements do with it
 *  (sql/distribution.ts). Citus documentation, "System Tables": pg_dist_partition. */

export type Distribution =
  /** The rows are on the shards by the hash of a column. */
  | { readonly kind: 'distributed'; readonly column: string; readonly colocation: number }
  /** All rows are on one shard: a table of a distributed schema. */
  | { readonly kind: 'single-shard'; readonly colocation: number }
  /** Every machine has all rows. */
  | { readonly kind: 'reference' };

type Oid = number;

type Queryable = {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
};

type Row = {
  readonly table: string;
  /** `h` by a hash, `n` not by a column. Tables by append or range are of old versions. */
  readonly method: string;
  /** `t` for a table that every machine has, by two-phase commit. */
  readonly replication: string;
  readonly colocation: number;
  readonly column: string | null;
};

const STATEMENT = `
select p.logicalrelid::oid::text as "table", p.partmethod as method, p.repmodel as replication, p.colocationid as colocation,
  pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) as "column"
from pg_catalog.pg_dist_partition p`;

/** Reads the distributions of a database with the extension. */
export async function distributionsOf(client: Queryable): Promise<ReadonlyMap<Oid, Distribution>> {
  const { rows } = await client.query(STATEMENT);
  return new Map(
    (rows as readonly Row[]).flatMap((row) => {
      const distribution = distributionOf(row);
      return distribution ? [[Number(row.table), distribution] as const] : [];
    }),
  );
}

function distributionOf({ method, replication, colocation, column }: Row): Distribution | null {
  if (column !== null) return { kind: 'distributed', column, colocation };
  if (replication === 't') return { kind: 'reference' };
  // A local table that Citus knows has no colocation.
  return method === 'n' && colocation > 0 ? { kind: 'single-shard', colocation } : null;
}

/** Returns the distribution as it is shown: `distributed by company_id (colocation 2)`. */
export function printDistribution(distribution: Distribution): string {
  switch (distribution.kind) {
    case 'distributed':
      return `distributed by ${distribution.column} (colocation ${distribution.colocation})`;
    case 'single-shard':
      return `on one shard (colocation ${distribution.colocation})`;
    case 'reference':
      return 'a reference table';
    default:
      return distribution satisfies never;
  }
}
