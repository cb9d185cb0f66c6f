select coalesce(string_agg("t1"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || '}' as "json"
from "public"."author" "t0"
order by "t0"."id") "t1";
