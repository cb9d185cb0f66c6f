with "written" as (update "public"."painting" "t0" set "details" = "t0"."details" || $1::"pg_catalog"."jsonb", "price" = "t0"."price" + $2::"pg_catalog"."numeric", "title" = $3::"pg_catalog"."text"
where "t0"."id" = $4::"pg_catalog"."int4"
returning "t0".*) select '{"affected_rows":' || count(*)::text || ',"returning":[' || coalesce(string_agg('{"title":' || to_json("t1"."title")::text || ',"price":' || coalesce(case when scale("t1"."price") is not null then "t1"."price"::text else to_json("t1"."price")::text end, 'null') || ',"details":' || "t1"."details"::text || '}', ','), '') || ']}'
from "written" "t1";
-- $1 = variable details (jsonb)
-- $2 = "-1" (numeric)
-- $3 = "Judith II" (text)
-- $4 = "1" (int4)
