with "written" as (update "public"."painter" "t0" set "is_active" = $1::"pg_catalog"."bool"
where "t0"."id" = $2::"pg_catalog"."int4"
returning "t0".*::"public"."painter" as "written row") select count(*)::text, array_agg("written row")::text
from "written";
-- $1 = "false" (bool)
-- $2 = "1" (int4)

with "written" as (delete
from "public"."painting" "t0"
where "t0"."title" = $1::"pg_catalog"."text" and exists (select 1
from unnest($2::"public"."painter"[]) "t1"
where "t0"."painter_id" = "t1"."id")
returning 1) select count(*)::text
from "written";
-- $1 = "Susanna" (text)
-- $2 = kept 0 of step 0 (public.painter[])

with "written" as (update "public"."painting" "t0" set "price" = "t0"."price" + $1::"pg_catalog"."numeric"
where exists (select 1
from unnest($2::"public"."painter"[]) "t1"
where "t0"."painter_id" = "t1"."id")
returning "t0".*::"public"."painting" as "written row") select count(*)::text, array_agg("written row")::text
from "written";
-- $1 = "1" (numeric)
-- $2 = kept 0 of step 0 (public.painter[])

with "written" as (delete
from "public"."offer" "t0"
where "t0"."amount" < $1::"pg_catalog"."numeric" and exists (select 1
from unnest($2::"public"."painting"[]) "t1"
where "t0"."painting_id" = "t1"."id")
returning 1) select count(*)::text
from "written";
-- $1 = "820" (numeric)
-- $2 = kept 0 of step 2 (public.painting[])

select '{"affected_rows":' || $1::"pg_catalog"."text" || ',"returning":[' || coalesce(string_agg('{"is_active":' || "t0"."is_active"::text || ',"paintings":[' || coalesce((select string_agg('{"price":' || coalesce(case when scale("t1"."price") is not null then "t1"."price"::text else to_json("t1"."price")::text end, 'null') || ',"offers":[' || coalesce((select string_agg('{"amount":' || case when scale("t2"."amount") is not null then "t2"."amount"::text else to_json("t2"."amount")::text end || '}', ',')
from "public"."offer" "t2"
where "t2"."painting_id" = "t1"."id"), '') || ']}', ',')
from "public"."painting" "t1"
where "t1"."painter_id" = "t0"."id"), '') || ']}', ','), '') || ']}'
from unnest($2::"public"."painter"[]) "t0";
-- $1 = number of rows written
-- $2 = rows written (public.painter[])
