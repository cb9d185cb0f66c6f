select '[' || coalesce(string_agg("t1"."json", ','), '') || ']'
from (select '{"keys":{"main":' || coalesce(to_json("t0"."main")::text, 'null') || '},"aggregate":{"count":' || count(*)::text || ',"sum":{"price":' || coalesce(case when scale(sum("t0"."price")) is not null then sum("t0"."price")::text else to_json(sum("t0"."price"))::text end, 'null') || '}}}' as "json"
from "public"."painting" "t0"
where "t0"."price" > $1::"pg_catalog"."numeric" group by ("t0"."main") having count(*) >= $2::"pg_catalog"."int4"
order by count(*) desc, "t0"."main"
limit 5) "t1";
-- $1 = "0" (numeric)
-- $2 = "1" (int4)
