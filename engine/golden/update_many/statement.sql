with "written" as (update "public"."painting" "t0" set "main" = $1::"pg_catalog"."text"
where "t0"."id" = $2::"pg_catalog"."int4"
returning "t0".*) select '{"affected_rows":' || count(*)::text || '}'
from "written" "t1";
-- $1 = "blue" (text)
-- $2 = "1" (int4)

with "written" as (update "public"."painting" "t0" set "price" = "t0"."price" + $1::"pg_catalog"."numeric"
where "t0"."main" = $2::"pg_catalog"."text"
returning "t0".*) select '{"affected_rows":' || count(*)::text || '}'
from "written" "t1";
-- $1 = "1" (numeric)
-- $2 = "blue" (text)
