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

/** The tables that the cluster knows, and the views that read them. What a materialized view has is on the coordinator. */
const READING = `reading as (
  select p.logicalrelid::pg_catalog.oid as oid from pg_catalog.pg_dist_partition p
  union
  select r.ev_class from reading
  join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = reading.oid
    and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  join pg_catalog.pg_rewrite r on r.oid = d.objid
  join pg_catalog.pg_class c on c.oid = r.ev_class and c.relkind = 'v'
)`;

const VIEWS = `
with recursive ${READING}
select c.oid::text as "view" from reading join pg_catalog.pg_class c on c.oid = reading.oid and c.relkind = 'v'`;

/** Returns an expression for a pattern of all names of a column as words. One pattern has them all. */
const wordsOf = (column: string) =>
  `'\\m(' || pg_catalog.string_agg(pg_catalog.regexp_replace(${column}, '([^[:alnum:]_])', '\\\\\\1', 'g'), '|') || ')\\M'`;

/** The functions that call one of those in \`readers\` whose statements Citus plans with their callers: it plans theirs in the same way. */
const callersOf = (readers: string) => `
  select f.oid, f.name, true as is_sql from candidates f
  cross join (select ${wordsOf('name')} || '"?\\s*[(]' as pattern from ${readers} where is_sql) as called
  where f.source ~* called.pattern
    or f.oid in (
      select d.objid from pg_catalog.pg_depend d join ${readers} r on r.oid = d.refobjid and r.is_sql
      where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
    )`;

/** The names that a body has as words, and what a parsed body depends on. Functions that call each other do so three deep at most. */
const FUNCTIONS = `
with recursive ${READING},
sharded as materialized (
  select c.oid, c.relname as name from reading join pg_catalog.pg_class c on c.oid = reading.oid
),
named as materialized (select ${wordsOf('name')} as pattern from sharded),
candidates as materialized (
  select f.oid, f.proname as name, f.prosrc as source, l.lanname = 'sql' as is_sql
  from pg_catalog.pg_proc f
  join pg_catalog.pg_language l on l.oid = f.prolang and l.lanname not in ('c', 'internal')
  join pg_catalog.pg_namespace n on n.oid = f.pronamespace and n.nspname not in ('pg_catalog', 'information_schema', 'pergola')
  where f.prokind = 'f'
),
readers as materialized (
  select f.oid, f.name, f.is_sql from candidates f cross join named
  where f.source ~* named.pattern
    or f.oid in (
      select d.objid from pg_catalog.pg_depend d join sharded s on s.oid = d.refobjid
      where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    )
),
callers as materialized (${callersOf('readers')}),
callers_of_callers as materialized (${callersOf('callers')})
select oid::text as "function", pg_catalog.bool_or(is_sql) as "isSql"
from (table readers union all table callers union all table callers_of_callers) as found
group by oid`;

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
