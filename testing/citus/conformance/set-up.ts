/** The SQL with which a case sets its tables up → the SQL that a cluster gets: the new tables are distributed, reference and local at random. In:
 *  SQL and a seed. Out: SQL for the coordinator. A table gets the first way, in an order of the seed, that its constraints allow. */
import { createHash } from 'node:crypto';
import { splitSteps } from '../../../engine/catalog/split-statements.ts';
import { finish } from '../../../engine/metadata/steps.ts';

const CREATES = /\bcreate\s+(unlogged\s+)?table\b/i;
/** Statements of what takes or returns rows of a table, and is created after the table is distributed. */
const USES = /^create\s+(or\s+replace\s+)?(function|view|materialized\s+view)\b/i;
/** The statements that empty the database before a class of cases. The schema also has the extension of the cluster. */
const EMPTIES = /drop schema if exists public cascade; create schema public;/;

export function onCluster(sql: string, seed: number): string {
  const emptied = sql.replace(EMPTIES, () => EMPTY);
  if (!CREATES.test(sql)) return emptied;
  const salt = createHash('md5').update(`${seed} ${sql}`).digest('hex');
  const distribute = DISTRIBUTE.replaceAll('salt of the seed', salt);
  const parts: string[] = [ONE_BY_ONE];
  let areNew = false;
  for (const statement of finish(splitSteps(emptied))) {
    if (areNew && USES.test(statement)) parts.push(distribute);
    areNew = CREATES.test(statement) || (areNew && !USES.test(statement));
    parts.push(statement);
  }
  return [...parts, ...(areNew ? [distribute] : [])].join(';\n');
}

/** Citus refuses statements of one transaction over tables of different kinds unless shards are changed one by one. */
const ONE_BY_ONE = `set local citus.multi_shard_modify_mode to 'sequential'`;

const EMPTY = `
do $empty$
declare
  statement text;
begin
  for statement in
    select format('drop %s if exists %s cascade', case c.relkind when 'v' then 'view' when 'm' then 'materialized view'
      when 'S' then 'sequence' when 'f' then 'foreign table' when 'c' then 'type' else 'table' end, c.oid::regclass)
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'c', 'S')
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('e', 'a', 'i'))
    union all
    select format('drop routine if exists %s cascade', f.oid::regprocedure)
    from pg_proc f where f.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
    union all
    select format('drop type if exists %s cascade', t.oid::regtype)
    from pg_type t where t.typnamespace = 'public'::regnamespace and t.typtype in ('e', 'd', 'r')
      and not exists (select from pg_depend d where d.objid = t.oid and d.deptype = 'e')
  loop
    execute statement;
  end loop;
end $empty$;`;

/** The ways of a table are each column of its first unique index, or the first column, a reference table, and a local one. Functions that take rows
 *  are distributed, because those that existed before their table are on the coordinator only. */
const DISTRIBUTE = `
do $distribute$
declare
  relation record;
  way text;
  ways text[];
  routine record;
begin
  for relation in
    select c.oid, c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema$|pergola$|citus|columnar)'
      and not exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by c.oid
  loop
    select array_agg(each.way order by md5('salt of the seed' || relation.name || each.way)) into ways from (
      select a.attname::text as way from pg_attribute a
      where a.attrelid = relation.oid and a.attnum > 0 and not a.attisdropped and a.attnum = any (coalesce(
        (select i.indkey::int2[] from pg_index i where i.indrelid = relation.oid and i.indisunique
         order by i.indisprimary desc, i.indexrelid limit 1), array[1]::int2[]))
      union all values ('a reference table'), ('a local table')
    ) each;
    foreach way in array ways loop
      exit when way = 'a local table';
      begin
        if way = 'a reference table' then perform create_reference_table(relation.oid::regclass);
        else perform create_distributed_table(relation.oid::regclass, way); end if;
        exit;
      exception when others then null;
      end;
    end loop;
  end loop;
  for routine in
    select f.oid::regprocedure as name from pg_proc f join pg_namespace n on n.oid = f.pronamespace
    join pg_type t on t.oid = any (f.proargtypes::oid[]) and t.typtype = 'c'
    where n.nspname !~ '^(pg_|information_schema$|pergola$|citus|columnar)'
      and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
  loop
    begin
      perform create_distributed_function(routine.name);
    exception when others then null;
    end;
  end loop;
end $distribute$`;
