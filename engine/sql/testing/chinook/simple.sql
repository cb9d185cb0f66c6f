select coalesce(string_agg('{"Email":' || to_json("t0"."Email")::text || '}', ','), '')
from "public"."Customer" "t0"
where "t0"."SupportRepId" = $1::"pg_catalog"."int4"
