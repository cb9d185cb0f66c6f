select coalesce(string_agg("t2"."json", ','), '')
from (select '{"name":' || to_json("t0"."name")::text || '}' as "json"
from "public"."painter" "t0"
order by (select max("t1"."price")
from "public"."painter_cheap"(row("t0".*)::"public"."painter", "below" => $1::"pg_catalog"."numeric") "t1"
where "t1"."owner" = $2::"pg_catalog"."int4") desc nulls last) "t2";
-- $1 = variable below (numeric)
-- $2 = session x-engine-user-id (int4)
