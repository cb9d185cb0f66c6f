-- The catalog of one database as one row of JSON. Every system table is read once and aggregated once; numbers that
-- refer to other rows (columns by attnum, tables and types by oid) are looked up by introspect.ts.
with namespaces as (
  select oid, nspname
  from pg_catalog.pg_namespace
  where nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pergola')
    and nspname !~ '^pg_(toast_)?temp_'
),
relations as (
  select c.oid, n.nspname, c.relname, c.relkind, c.reltype
  from pg_catalog.pg_class c
  join namespaces n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f')
),
comments as (
  select objoid, objsubid, description
  from pg_catalog.pg_description
  where classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
),
columns as materialized (
  select a.attrelid, a.attnum, a.attname, a.atttypid, a.attnotnull, a.atthasdef, a.attidentity, a.attgenerated,
    d.description
  from pg_catalog.pg_attribute a
  join relations r on r.oid = a.attrelid
  left join comments d on d.objoid = a.attrelid and d.objsubid = a.attnum
  where a.attnum > 0 and not a.attisdropped
),
functions as materialized (
  select p.oid, n.nspname, p.proname, p.provolatile, p.proretset, p.prorettype, p.provariadic <> 0 as is_variadic,
    p.proargnames, p.proargmodes, p.pronargdefaults,
    coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[]) as argument_types
  from pg_catalog.pg_proc p
  join namespaces n on n.oid = p.pronamespace
  where p.prokind = 'f'
    and p.oid not in (
      select objid from pg_catalog.pg_depend
      where classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and deptype = 'e'
    )
),
-- Types in use, with what they are made of: a domain's base, an array's element.
types as (
  with recursive used as (
    select atttypid as oid from columns
    union
    select prorettype from functions
    union
    select pg_catalog.unnest(argument_types) from functions
  ),
  reached as (
    select oid from used
    union
    select part.oid
    from reached
    join pg_catalog.pg_type t on t.oid = reached.oid
    cross join lateral (values (t.typbasetype), (t.typelem)) part (oid)
    where part.oid <> 0
  )
  select t.oid, n.nspname, t.typname, t.typtype, t.typbasetype, t.typnotnull, t.typdefault is not null as has_default,
    e.oid as element, t.typrelid
  from reached
  join pg_catalog.pg_type t on t.oid = reached.oid
  join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  left join pg_catalog.pg_type e on e.oid = t.typelem and e.typarray = t.oid
)
select pg_catalog.json_build_object(
  'serverVersion', pg_catalog.current_setting('server_version_num')::int,
  'tables', (
    -- oid, schema, name, kind, events it takes: 4 update, 8 insert, 16 delete (pg_relation_is_updatable), comment
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      r.oid::bigint, r.nspname, r.relname, r.relkind,
      case
        when r.relkind in ('r', 'p') then 28
        when r.relkind = 'm' then 0
        else pg_catalog.pg_relation_is_updatable(r.oid, true)
      end,
      d.description
    ) order by r.nspname, r.relname), '[]')
    from relations r
    left join comments d on d.objoid = r.oid and d.objsubid = 0
  ),
  'columns', (
    -- table, then one list an attribute of all its columns: attnum, name, type, flags, comment
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      t.attrelid::bigint, t.positions, t.names, t.types, t.flags, t.comments
    )), '[]')
    from (
      select attrelid,
        pg_catalog.array_agg(attnum order by attnum) as positions,
        pg_catalog.array_agg(attname order by attnum) as names,
        pg_catalog.array_agg(atttypid::bigint order by attnum) as types,
        -- not null 1, default 2, identity by default 4, identity always 8, generated 16
        pg_catalog.array_agg(
          attnotnull::int
          + 2 * (atthasdef and attgenerated = '')::int
          + 4 * (attidentity = 'd')::int
          + 8 * (attidentity = 'a')::int
          + 16 * (attgenerated <> '')::int
          order by attnum
        ) as flags,
        case when pg_catalog.count(description) > 0
          then pg_catalog.array_agg(description order by attnum)
        end as comments
      from columns
      group by attrelid
    ) t
  ),
  'keys', (
    -- table, name, attnums, is it the primary key, is it a constraint that `on conflict` can name
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      i.indrelid::bigint, coalesce(k.conname, x.relname),
      (pg_catalog.string_to_array(i.indkey::text, ' '))[1:i.indnkeyatts]::int[],
      i.indisprimary, k.oid is not null and not k.condeferrable
    ) order by i.indrelid, coalesce(k.conname, x.relname)), '[]')
    from pg_catalog.pg_index i
    join relations r on r.oid = i.indrelid
    join pg_catalog.pg_class x on x.oid = i.indexrelid
    left join pg_catalog.pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u')
    where i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
  ),
  'foreignKeys', (
    -- table, name, attnums, foreign table, foreign attnums. Left out: the copies Postgres keeps for each partition of a
    -- referenced table, and keys over periods, which do not join by equality.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      k.conrelid::bigint, k.conname, k.conkey, k.confrelid::bigint, k.confkey
    ) order by k.conrelid, k.conname), '[]')
    from pg_catalog.pg_constraint k
    join relations r on r.oid = k.conrelid
    left join pg_catalog.pg_constraint parent on parent.oid = k.conparentid
    where k.contype = 'f'
      and parent.conrelid is distinct from k.conrelid
      and pg_catalog.to_jsonb(k) ->> 'conperiod' is distinct from 'true'
  ),
  'types', (
    -- oid, schema, name, typtype, element, base, not null, has default, table whose rows it is
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      t.oid::bigint, t.nspname, t.typname, t.typtype, t.element::bigint, t.typbasetype::bigint,
      t.typnotnull, t.has_default, t.typrelid::bigint
    )), '[]')
    from types t
  ),
  'functions', (
    -- oid, schema, name, volatility, returns a set, return type, variadic, argument types, names, modes, defaults, comment
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      f.oid::bigint, f.nspname, f.proname, f.provolatile, f.proretset, f.prorettype::bigint, f.is_variadic,
      f.argument_types::bigint[], f.proargnames, f.proargmodes, f.pronargdefaults, d.description
    ) order by f.nspname, f.proname, f.oid), '[]')
    from functions f
    left join pg_catalog.pg_description d
      on d.objoid = f.oid and d.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass
  )
)::text as catalog
