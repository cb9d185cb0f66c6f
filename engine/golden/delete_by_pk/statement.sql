with "written" as (delete
from "public"."painting" "t0"
where "t0"."id" = $1::"pg_catalog"."int4"
returning "t0".*::"public"."painting" as "written row") select array_agg("written row")::text
from "written";
-- $1 = "3" (int4)

select '{"title":' || to_json("t0"."title")::text || ',"offers":[' || coalesce((select string_agg('{"amount":' || case when scale("t1"."amount") is not null then "t1"."amount"::text else to_json("t1"."amount")::text end || '}', ',')
from "public"."offer" "t1"
where "t1"."painting_id" = "t0"."id"), '') || ']}'
from unnest($1::"public"."painting"[]) "t0";
-- $1 = rows written (public.painting[])
