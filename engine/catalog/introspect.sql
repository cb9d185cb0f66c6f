-- The catalog of one database as one row of JSON. Every system table is read once and aggregated once. introspect.ts looks up
-- numbers that refer to other rows (columns by attnum, tables and types by oid).
with namespaces as (
  select oid, nspname
  from pg_catalog.pg_namespace
  where nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pergola')
    and nspname !~ '^pg_(toast_)?temp_'
),
relations as (
  select c.oid, n.nspname, c.relname, c.relkind, c.relhassubclass
  from pg_catalog.pg_class c
  join namespaces n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f')
),
comments as (
  select objoid, objsubid, description
  from pg_catalog.pg_description
  where classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
),
functions as (
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
-- Types outside pg_catalog that may have operators of their own.
own_types as (
  select oid, typnamespace, typowner from pg_catalog.pg_type
  where typtype = 'b' and typcategory <> 'A' and typnamespace <> 'pg_catalog'::pg_catalog.regnamespace
),
-- Equality with such a type. Operators of other owners do not count: any role may create one in a schema of its own.
equality as (
  select distinct on (o.oprleft, o.oprright) o.oprleft as one, o.oprright as other, o.oprnamespace as namespace
  from own_types t
  join pg_catalog.pg_operator o on t.oid in (o.oprleft, o.oprright)
  where o.oprname = '=' and o.oprnamespace <> 'pg_catalog'::pg_catalog.regnamespace and o.oprowner = t.typowner
  order by o.oprleft, o.oprright, o.oprnamespace <> t.typnamespace, o.oid
),
implicit_casts as (
  select castsource as source, casttarget as target from pg_catalog.pg_cast
  where castcontext = 'i' and castsource <> casttarget
),
-- Equality by an implicit cast of one value or of both, which Postgres uses where the types have none of their own.
equality_by_cast as (
  select distinct on (p.one, p.other) p.one, p.other, e.namespace
  from implicit_casts c
  join equality e on e.one = c.target and e.other = c.target
  cross join lateral (values (c.source, c.target), (c.target, c.source), (c.source, c.source)) p(one, other)
  where c.source in (select oid from own_types)
    and (p.one, p.other) not in (select one, other from equality)
  order by p.one, p.other, e.namespace
)
select pg_catalog.json_build_object(
  'serverVersion', pg_catalog.current_setting('server_version_num')::int,
  'hasCitus', exists (select from pg_catalog.pg_extension e where e.extname = 'citus'),
  'reactions', (
    -- Tables whose writes run code that may read the session: table, whether some of it runs during the statement, not only after
    -- it. Such code is triggers, rules, and functions that are not written in C in defaults, constraints, and policies that
    -- apply to the engine's own user.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(c.relation::bigint, c.is_during)), '[]')
    from (
      select relation, pg_catalog.bool_or(is_during) as is_during
      from (
        -- The bits of tgtype: for each row 1, before 2, instead of 64.
        select t.tgrelid as relation, t.tgtype & 1 = 0 or t.tgtype & 66 <> 0 as is_during
        from pg_catalog.pg_trigger t where not t.tgisinternal
        union all
        select w.ev_class, true from pg_catalog.pg_rewrite w where w.rulename <> '_RETURN'
        union all
        select coalesce(a.adrelid, k.conrelid, p.polrelid), true
        from pg_catalog.pg_depend u
        join pg_catalog.pg_proc f on f.oid = u.refobjid
        join pg_catalog.pg_language l on l.oid = f.prolang and l.lanname not in ('c', 'internal')
        left join pg_catalog.pg_attrdef a on a.oid = u.objid and u.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
        left join pg_catalog.pg_constraint k on k.oid = u.objid and u.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass
        left join pg_catalog.pg_policy p on p.oid = u.objid and u.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass
          and pg_catalog.row_security_active(p.polrelid)
        where u.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
        union all
        select a.adrelid, true from pg_catalog.pg_attrdef a
        where pg_catalog.pg_get_expr(a.adbin, a.adrelid) like '%current_setting(%'
        union all
        select k.conrelid, true from pg_catalog.pg_constraint k
        where k.contype = 'c' and pg_catalog.pg_get_expr(k.conbin, k.conrelid) like '%current_setting(%'
        union all
        select p.polrelid, true from pg_catalog.pg_policy p
        where pg_catalog.concat(pg_catalog.pg_get_expr(p.polqual, p.polrelid), pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid))
          like '%current_setting(%' and pg_catalog.row_security_active(p.polrelid)
      ) code
      join relations r on r.oid = code.relation
      group by relation
    ) c
  ),
  'writes', (
    -- The tables that a write to a table may write, too: table, other table, whether the other is a part of it (a partition, a table
    -- that inherits) and not one whose foreign key changes with it.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(w.writer::bigint, w.written::bigint, w.is_part)), '[]')
    from (
      select i.inhparent as writer, i.inhrelid as written, true as is_part from pg_catalog.pg_inherits i
      union all
      select k.confrelid, k.conrelid, false from pg_catalog.pg_constraint k
      where k.contype = 'f' and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))
    ) w
    where w.writer in (select oid from relations) and w.written in (select oid from relations)
  ),
  'tables', (
    -- oid, schema, name, kind, flags, comment. Flags: supported writes as in pg_relation_is_updatable (4 update, 8 insert,
    -- 16 delete), and 32 when other tables inherit from it.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      r.oid::bigint, r.nspname, r.relname, r.relkind,
      case
        when r.relkind in ('r', 'p') then 28
        when r.relkind = 'm' then 0
        else pg_catalog.pg_relation_is_updatable(r.oid, true)
      end + 32 * (r.relkind <> 'p' and r.relhassubclass)::int,
      d.description
    ) order by r.nspname, r.relname), '[]')
    from relations r
    left join comments d on d.objoid = r.oid and d.objsubid = 0
  ),
  'columns', (
    -- table, then one list per attribute of its columns: attnum, name, type, flags. Unsorted and without comments, because
    -- sorting and joining tens of thousands of columns costs more than all the rest.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      t.attrelid::bigint, t.positions, t.names, t.types, t.flags
    )), '[]')
    from (
      select a.attrelid,
        pg_catalog.array_agg(a.attnum) as positions,
        pg_catalog.array_agg(a.attname::text) as names,
        pg_catalog.array_agg(a.atttypid::bigint) as types,
        -- not null 1, default 2, identity by default 4, identity always 8, generated 16, an expression 32
        pg_catalog.array_agg(
          -- Since Postgres 18 a not-null constraint can be unvalidated; older rows may then hold nulls.
          (a.attnotnull and (a.attrelid, a.attnum) not in (
            select k.conrelid, k.conkey[1] from pg_catalog.pg_constraint k where k.contype = 'n' and not k.convalidated
          ))::int
          + 2 * (a.atthasdef and a.attgenerated = '')::int
          + 4 * (a.attidentity = 'd')::int
          + 8 * (a.attidentity = 'a')::int
          + 16 * (a.attgenerated <> '')::int
          -- A column of a view is an expression unless Postgres can update it: then it is a plain column of a table.
          + 32 * (a.attgenerated = 'v' or a.attrelid in (select oid from relations where relkind = 'v')
            and not pg_catalog.pg_column_is_updatable(a.attrelid, a.attnum, false))::int
        ) as flags
      from pg_catalog.pg_attribute a
      where a.attnum > 0 and not a.attisdropped and a.attrelid in (select oid from relations)
      group by a.attrelid
    ) t
  ),
  'columnComments', (
    -- table, attnum, comment
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      d.objoid::bigint, d.objsubid, d.description
    )), '[]')
    from comments d
    where d.objsubid <> 0 and d.objoid in (select oid from relations)
  ),
  'keys', (
    -- table, name, attnums, is the primary key, is a constraint that `on conflict` can name
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      i.indrelid::bigint, coalesce(k.conname, x.relname),
      (pg_catalog.string_to_array(i.indkey::text, ' '))[1:i.indnkeyatts]::int[],
      i.indisprimary, k.oid is not null and not k.condeferrable and not i.indisexclusion
    ) order by i.indrelid, coalesce(k.conname, x.relname)), '[]')
    from pg_catalog.pg_index i
    join relations r on r.oid = i.indrelid
    join pg_catalog.pg_class x on x.oid = i.indexrelid
    left join pg_catalog.pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u')
    where i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
  ),
  'indexes', (
    -- Unique indexes without a constraint: table, name, columns or expressions, predicate
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      i.indrelid::bigint, x.relname,
      array(select pg_catalog.pg_get_indexdef(i.indexrelid, n, false) from pg_catalog.generate_series(1, i.indnkeyatts) n),
      pg_catalog.pg_get_expr(i.indpred, i.indrelid)
    ) order by i.indrelid, x.relname), '[]')
    from pg_catalog.pg_index i
    join relations r on r.oid = i.indrelid
    join pg_catalog.pg_class x on x.oid = i.indexrelid
    where i.indisunique and i.indisvalid and not exists (
      select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')
    )
  ),
  'foreignKeys', (
    -- table, name, attnums, foreign table, foreign attnums. Excluded are the copies that Postgres keeps for each partition of
    -- a referenced table, and keys over periods, which do not join by equality.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      k.conrelid::bigint, k.conname, k.conkey, k.confrelid::bigint, k.confkey
    ) order by k.conrelid, k.conname), '[]')
    from pg_catalog.pg_constraint k
    join relations r on r.oid = k.conrelid
    join pg_catalog.pg_index i on i.indexrelid = k.conindid
    left join pg_catalog.pg_constraint parent on parent.oid = k.conparentid
    where k.contype = 'f'
      and parent.conrelid is distinct from k.conrelid
      and not i.indisexclusion
  ),
  'types', (
    -- oid, schema, name, typtype, element, base, not null, has default, table whose row type it is
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      t.oid::bigint, n.nspname, t.typname, t.typtype, e.oid::bigint, t.typbasetype::bigint,
      t.typnotnull, t.typdefault is not null, t.typrelid::bigint
    ))
    from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    left join pg_catalog.pg_type e on e.oid = t.typelem and e.typarray = t.oid
  ),
  'equalities', (
    -- type outside pg_catalog, the type that it is compared with, schema of the operator
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      e.one::bigint, e.other::bigint, n.nspname
    ) order by e.one, e.other), '[]')
    from (
      select one, other, namespace from equality
      union select other, one, namespace from equality
      union all select one, other, namespace from equality_by_cast
    ) e
    join own_types t on t.oid = e.one
    join pg_catalog.pg_namespace n on n.oid = e.namespace
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
