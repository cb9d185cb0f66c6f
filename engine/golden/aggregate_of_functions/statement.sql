select (select '{"aggregate":{"count":' || count(*)::text || ',"max":{"key":' || coalesce('"' || (array_agg("t0"."key"
order by "t0"."key" desc nulls last))[1]::text || '"', 'null') || ',"ratio":' || coalesce(case when max("t0"."ratio") between -1e30 and 1e30 then max("t0"."ratio")::text else to_json(max("t0"."ratio"))::text end, 'null') || '},"min":{"key":' || coalesce('"' || (array_agg("t0"."key"
order by "t0"."key"))[1]::text || '"', 'null') || '}},"nodes":[' || coalesce(string_agg('{"title":' || to_json("t0"."title")::text || '}', ','
order by "t0"."id" desc), '') || ']}'
from "public"."search_songs"("search" => $1::"pg_catalog"."text") "t0"
where "t0"."singer_id" = $2::"pg_catalog"."int4"), (select coalesce(string_agg("t3"."json", ','), '')
from (select '{"name":' || to_json("t1"."name")::text || '}' as "json"
from "public"."singer" "t1"
order by (select count(*)
from "public"."hits"("singer" => row("t1".*)::"public"."singer") "t2"
where "t2"."singer_id" = $2::"pg_catalog"."int4") desc, "t1"."id" desc) "t3");
-- $1 = "rain" (text)
-- $2 = session x-engine-singer-id (int4)
