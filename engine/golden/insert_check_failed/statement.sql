with "written" as (insert into "public"."painting" as "t0" ("painter_id", "title", "price", "owner") values ($1::"pg_catalog"."int4", $2::"pg_catalog"."text", $3::"pg_catalog"."numeric", $4::"pg_catalog"."int4")
returning "t0".*, ("t0"."price" > $3::"pg_catalog"."numeric") is true as "check passes") select '{"id":' || "t1"."id"::text || '}', case when "check passes" is not false then 0 else (current_user || ': the check of a permission has failed')::int end
from "written" "t1";
-- $1 = "2" (int4)
-- $2 = "Gift" (text)
-- $3 = "0" (numeric)
-- $4 = session x-engine-user-id (int4)
