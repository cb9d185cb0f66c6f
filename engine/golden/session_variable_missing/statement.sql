select coalesce(string_agg('{"stars":' || "t0"."stars"::text || '}', ','), '')
from "public"."review" "t0"
where "t0"."member_id" = $1::"pg_catalog"."int4";
-- $1 = session x-engine-user-id (int4)
