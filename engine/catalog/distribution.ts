/** The distribution of each table of a Citus cluster, read from the catalogs of its coordinator. A database without the extension is not asked.
 *  In: anything with `query`. Out: distributions by the oid of the table; a local table has none. Not here: what statements do with it
 *  (sql/distribution.ts). Citus documentation, "System Tables": pg_dist_partition. */

export type Distribution =
  /** The rows are on the shards by the hash of a column. */
  | { readonly kind: 'distributed'; readonly column: string; readonly colocation: number }
  /** All rows are on one shard: a table of a distributed schema. */
  | { readonly kind: 'single-shard'; readonly colocation: number }
  /** Every machine has all rows. */
  | { readonly kind: 'reference' };

/** The language of a function whose body names a table that Citus knows: Citus plans statements of SQL functions with their
 *  callers, others by themselves. */
export type ShardReader = 'sql' | 'other';

/** The distributions of tables by oid, the functions that read them, and the views of tables that the cluster knows. */
export type ReadDistributions = {
  readonly tables: ReadonlyMap<Oid, Distribution>;
  /** Local tables that Citus knows, such as those with a foreign key to a reference table. It plans their statements. */
  readonly local: ReadonlySet<Oid>;
  /** Citus writes to no table by a view. */
  readonly views: ReadonlySet<Oid>;
  readonly functions: ReadonlyMap<Oid, ShardReader>;
};

type Oid = number;

type Queryable = {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
};

type TableRow = {
  readonly table: string;
  /** `h` by a hash, `n` not by a column. Tables by append or range are of old versions. */
  readonly method: string;
  /** `t` for a table that every machine has, by two-phase commit. */
  readonly replication: string;
  readonly colocation: number;
  readonly column: string | null;
};

const TABLES = `
select p.logicalrelid::oid::text as "table", p.partmethod as method, p.repmodel as replication, p.colocationid as colocation,
  pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) as "column"
from pg_catalog.pg_dist_partition p`;

/** The names that a body has as words, and the tables that a parsed body depends on. One pattern has the names of all tables. */
const FUNCTIONS = `
with sharded as materialized (
  select c.oid, c.relname from pg_catalog.pg_dist_partition p join pg_catalog.pg_class c on c.oid = p.logicalrelid
),
named as materialized (
  select '\\m(' || pg_catalog.string_agg(pg_catalog.regexp_replace(relname, '([^[:alnum:]_])', '\\\\\\1', 'g'), '|') || ')\\M' as pattern
  from sharded
)
select f.oid::text as "function", l.lanname = 'sql' as "isSql"
from pg_catalog.pg_proc f
join pg_catalog.pg_language l on l.oid = f.prolang and l.lanname not in ('c', 'internal')
join pg_catalog.pg_namespace n on n.oid = f.pronamespace and n.nspname not in ('pg_catalog', 'information_schema', 'pergola')
cross join named
where f.prokind = 'f' and (
  f.prosrc ~* named.pattern
  or f.oid in (
    select d.objid from pg_catalog.pg_depend d join sharded s on s.oid = d.refobjid
    where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
  )
)`;

const VIEWS = `
with recursive reading as (
  select p.logicalrelid::pg_catalog.oid as oid from pg_catalog.pg_dist_partition p
  union
  select r.ev_class from reading
  join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = reading.oid
    and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  join pg_catalog.pg_rewrite r on r.oid = d.objid
)
select c.oid::text as "view" from reading join pg_catalog.pg_class c on c.oid = reading.oid and c.relkind = 'v'`;

type FunctionRow = { readonly function: string; readonly isSql: boolean };

/** Reads the distributions of a database with the extension. */
export async function distributionsOf(client: Queryable): Promise<ReadDistributions> {
  const tables = await client.query(TABLES);
  const functions = await client.query(FUNCTIONS);
  const views = await client.query(VIEWS);
  const rows = tables.rows as readonly TableRow[];
  return {
    tables: tableDistributions(rows),
    local: new Set(rows.filter((row) => distributionOf(row) === null).map(({ table }) => Number(table))),
    views: new Set((views.rows as readonly { readonly view: string }[]).map(({ view }) => Number(view))),
    functions: new Map(
      (functions.rows as readonly FunctionRow[]).map((row) => [
        Number(row.function),
        row.isSql ? 'sql' : 'other',
      ]),
    ),
  };
}

function tableDistributions(rows: readonly TableRow[]): ReadDistributions['tables'] {
  return new Map(
    rows.flatMap((row) => {
      const distribution = distributionOf(row);
      return distribution ? [[Number(row.table), distribution] as const] : [];
    }),
  );
}

function distributionOf({ method, replication, colocation, column }: TableRow): Distribution | null {
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
