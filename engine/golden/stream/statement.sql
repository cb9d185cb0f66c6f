select '[' || coalesce(string_agg('{"title":' || to_json("t0"."title")::text || case when "t1"."id" is null then ',"author":null}' else ',"author":{"name":' || to_json("t1"."name")::text || '}}' end, ','
order by "t0"."pages" desc), '') || ']', (array_agg("t0"."pages"::text
order by "t0"."pages"))[1], ($1::"pg_catalog"."int4")::text
from (select "t0".*
from "public"."book" "t0"
where "t0"."is_published" = $2::"pg_catalog"."bool" and "t0"."pages" < $1::"pg_catalog"."int4"
order by "t0"."pages" desc fetch first 2 rows with ties) "t0"
left join "public"."author" "t1" on "t1"."id" = "t0"."author_id";
-- $1 = cursor from variable from (int4)
-- $2 = "true" (bool)
