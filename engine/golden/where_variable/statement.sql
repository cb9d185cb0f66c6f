select coalesce(string_agg("t2"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || '}' as "json"
from "public"."book" "t0" join "public"."author" "t1" on "t1"."id" = "t0"."author_id"
where "t1"."name" like $1::"pg_catalog"."text" and ("t0"."id" = any($2::"pg_catalog"."int4"[]) or "t0"."price" is null)
order by "t0"."id") "t2";
-- $1 = variable where.author.name._like (text)
-- $2 = variable where._or.0.id._in (int4[])
