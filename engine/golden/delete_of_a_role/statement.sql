with "written" as (delete
from "public"."painting" "t0"
where "t0"."owner" = $1::"pg_catalog"."int4" and "t0"."price" < $2::"pg_catalog"."numeric"
returning "t0".*) select '{"affected_rows":' || count(*)::text || ',"returning":[' || coalesce(string_agg('{"title":' || to_json("t1"."title")::text || '}', ','), '') || ']}'
from "written" "t1";
-- $1 = session x-engine-user-id (int4)
-- $2 = "1000" (numeric)
