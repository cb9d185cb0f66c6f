with "written" as (update "public"."painting" "t0" set "price" = $1::"pg_catalog"."numeric"
where "t0"."owner" = $2::"pg_catalog"."int4"
returning "t0".*, ("t0"."price" > $3::"pg_catalog"."numeric") is true as "check passes") select '{"affected_rows":' || count(*)::text || ',"returning":[' || coalesce(string_agg('{"title":' || to_json("t1"."title")::text || ',"price":' || coalesce(case when scale("t1"."price") is not null then "t1"."price"::text else to_json("t1"."price")::text end, 'null') || '}', ','), '') || ']}', case when bool_and("check passes") is not false then 0 else (current_user || ': the check of a permission has failed')::int end
from "written" "t1";
-- $1 = "7" (numeric)
-- $2 = session x-engine-user-id (int4)
-- $3 = "0" (numeric)
