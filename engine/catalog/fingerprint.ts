/** Fingerprints of tables and functions: numbers that change with any DDL on the object. The engine compares them to notice changes
 *  by other clients without reading the catalog again. A fingerprint is the sum of hashes of the `xmin` of catalog rows: of columns,
 *  constraints, unique indexes and view definitions, or of the function.
 *  In: anything with `query`. Out: numbers. Not here: when they are compared (state/source-watch.ts). */
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';

/** Fingerprints of tables, functions and the distribution of a Citus cluster, by `fingerprintKey`. */
type Fingerprints = ReadonlyMap<string, bigint>;

export type Fingerprinted = {
  readonly kind: 'table' | 'function' | 'reactions' | 'distribution';
} & QualifiedName;

type Queryable = {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
};

const hashOf = (row: string, key: string) =>
  `pg_catalog.hashint8extended(${row}.xmin::text::bigint, ${key}::bigint)`;

const sumOver = (from: string, hash: string) => `coalesce((select sum(${hash}) from pg_catalog.${from}), 0)`;

const TABLE_PRINT = `pg_catalog.hashtextextended(c.oid::text || c.relkind::text, 0)
  + ${sumOver('pg_attribute a where a.attrelid = c.oid and a.attnum > 0', hashOf('a', 'a.attnum'))}
  + ${sumOver(
    "pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c')",
    hashOf('k', 'k.oid'),
  )}
  + ${sumOver('pg_index i where i.indrelid = c.oid and i.indisunique', hashOf('i', 'i.indexrelid'))}
  + ${sumOver('pg_rewrite r where r.ev_class = c.oid', hashOf('r', 'r.oid'))}`;

/** The hash of every trigger that the engine did not create, of partitions only those of their own, and of every policy that applies to the
 *  engine's user. One of a table that is not tracked may run after a write to a tracked one. The only internal triggers on TRUNCATE (the bit
 *  32 of tgtype) are those of Citus, one for each table that it knows: they change when a table is distributed. */
const REACTION_PRINT = `select ${sumOver(
  "pg_trigger t where (not t.tgisinternal or t.tgtype = 32) and t.tgparentid = 0 and t.tgname not like 'pergola\\_%'",
  hashOf('t', 't.oid'),
)} + ${sumOver('pg_policy p where pg_catalog.row_security_active(p.polrelid)', hashOf('p', 'p.oid'))} as print`;
const REACTIONS: Fingerprinted = { kind: 'reactions', schema: '', name: '' };

/** The hash of the distribution of every table that Citus knows. A table that moves to another colocation changes nothing else. */
const DISTRIBUTION_PRINT = `select ${sumOver('pg_dist_partition p', hashOf('p', 'p.logicalrelid::pg_catalog.oid::int8'))} as print`;
const DISTRIBUTION: Fingerprinted = { kind: 'distribution', schema: '', name: '' };

const IS_TABLE = "c.relkind in ('r', 'p', 'v', 'm', 'f')";
const IS_OURS = `n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pergola', 'pergola_migrations')
  and n.nspname !~ '^pg_(toast_)?temp_'`;

const ALL = `
select 'table' as kind, n.nspname as schema, c.relname as name, (${TABLE_PRINT})::text as print
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where ${IS_TABLE} and ${IS_OURS}
union all
select 'function', n.nspname, p.proname, sum(${hashOf('p', 'p.oid')})::text
from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where ${IS_OURS}
group by 1, 2, 3
union all
select '${REACTIONS.kind}', '${REACTIONS.schema}', '${REACTIONS.name}', (${REACTION_PRINT})::text`;

/** Returns the statement; `$1` is a JSON list of `[kind, schema, name]`, and `others` are queries of further prints. */
const sumWith = (others: readonly string[]) => `
with wanted as materialized (
  select w ->> 0 as kind, w ->> 1 as schema, w ->> 2 as name from pg_catalog.json_array_elements($1::json) w
)
select coalesce(sum(print), 0)::text as sum from (
  select ${TABLE_PRINT} as print
  from wanted w
  join pg_catalog.pg_namespace n on n.nspname = w.schema
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = w.name
  where w.kind = 'table' and ${IS_TABLE}
  union all
  select ${hashOf('p', 'p.oid')}::numeric
  from wanted w
  join pg_catalog.pg_namespace n on n.nspname = w.schema
  join pg_catalog.pg_proc p on p.pronamespace = n.oid and p.proname = w.name
  where w.kind = 'function'
  union all
  ${others.join('\n  union all\n  ')}
) prints`;
const SUM = sumWith([REACTION_PRINT]);
const SUM_OF_CLUSTER = sumWith([REACTION_PRINT, DISTRIBUTION_PRINT]);

/** Returns the fingerprints of every table and function outside the system schemas. Raises what the client raises. */
export async function fingerprintsOf(client: Queryable): Promise<Fingerprints> {
  const { rows } = await client.query(ALL);
  const prints = rows as readonly (Fingerprinted & {
    readonly schema: string;
    readonly print: string | null;
  })[];
  return new Map(prints.map((row) => [fingerprintKey(row), BigInt(row.print ?? 0)]));
}

/** Returns the fingerprints with that of the distribution of a Citus cluster. */
export async function withDistribution(prints: Fingerprints, client: Queryable): Promise<Fingerprints> {
  const { rows } = await client.query(`select print::text from (${DISTRIBUTION_PRINT}) prints`);
  const { print } = rows[0] as { readonly print: string };
  return new Map([...prints, [fingerprintKey(DISTRIBUTION), BigInt(print)]]);
}

/** Reads the sum of the current fingerprints of some objects, of all triggers and policies, and of the distribution in a cluster, with one statement.
 *  An object that does not exist counts as 0. */
export async function currentSum(
  client: Queryable,
  wanted: readonly Fingerprinted[],
  isCluster = false,
): Promise<bigint> {
  const names = wanted.map(({ kind, schema, name }) => [kind, schema, name]);
  const { rows } = await client.query(isCluster ? SUM_OF_CLUSTER : SUM, [JSON.stringify(names)]);
  return BigInt((rows[0] as { readonly sum: string }).sum);
}

/** Returns the sum of the earlier fingerprints of some objects, of all triggers and policies, and of the distribution in a cluster. */
export function sumOf(prints: Fingerprints, wanted: readonly Fingerprinted[]): bigint {
  return [...wanted, REACTIONS, DISTRIBUTION].reduce(
    (sum, each) => sum + (prints.get(fingerprintKey(each)) ?? 0n),
    0n,
  );
}

function fingerprintKey({ kind, schema, name }: Fingerprinted): string {
  return `${kind} ${qualifiedKey({ schema, name })}`;
}
