select '[' || coalesce(string_agg("t1"."json", ','), '') || ']'
from (select '{"keys":{"painter_id":' || "t0"."painter_id"::text || '},"aggregate":{"count":' || count(*)::text || '}}' as "json"
from "public"."painting" "t0"
where "t0"."owner" = $1::"pg_catalog"."int4" group by ("t0"."painter_id")
order by "t0"."painter_id") "t1";
-- $1 = session x-engine-user-id (int4)
