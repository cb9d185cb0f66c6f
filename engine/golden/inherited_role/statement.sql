select (select coalesce(string_agg("t3"."json", ','), '')
from (select '{"title":' || to_json("t0"."title")::text || ',"pages":' || coalesce(case when "t0"."is_published" = $1::"pg_catalog"."bool" then coalesce("t0"."pages"::text, 'null') end, 'null') || case when "t2"."id" is null then ',"author":null}' else ',"author":{"name":' || to_json("t2"."name")::text || '}}' end as "json"
from (select distinct on (case when "t0"."is_published" = $1::"pg_catalog"."bool" then "t0"."pages" end) "t0".*, case when "t0"."is_published" = $1::"pg_catalog"."bool" then "t0"."pages" end as "order 0"
from "public"."book" "t0"
where ("t0"."is_published" = $1::"pg_catalog"."bool" or exists (select 1
from "public"."author" "t1"
where "t1"."id" = "t0"."author_id" and "t1"."country" = any($2::"pg_catalog"."text"[]))) and case when "t0"."is_published" = $1::"pg_catalog"."bool" then "t0"."pages" end > $3::"pg_catalog"."int4"
order by case when "t0"."is_published" = $1::"pg_catalog"."bool" then "t0"."pages" end desc nulls last, "t0"."id") "t0"
left join "public"."author" "t2" on "t2"."id" = "t0"."author_id"
order by "t0"."order 0" desc nulls last, "t0"."id") "t3"), (select '{"id":' || "t4"."id"::text || ',"pages":' || coalesce(case when "t4"."is_published" = $1::"pg_catalog"."bool" then coalesce("t4"."pages"::text, 'null') end, 'null') || '}'
from "public"."book" "t4"
where ("t4"."is_published" = $1::"pg_catalog"."bool" or exists (select 1
from "public"."author" "t5"
where "t5"."id" = "t4"."author_id" and "t5"."country" = any($2::"pg_catalog"."text"[]))) and "t4"."id" = $4::"pg_catalog"."int4");
-- $1 = "true" (bool)
-- $2 = session x-engine-countries (text[])
-- $3 = "0" (int4)
-- $4 = "1" (int4)
