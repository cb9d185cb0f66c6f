select coalesce(string_agg('{"id":' || "t0"."id"::text || ',"pages":' || coalesce("t0"."pages"::text, 'null') || '}', ','), '')
from (select "t0".*
from "public"."book" "t0"
order by "t0"."pages" desc nulls last, "t0"."id" desc
limit 2
offset 1) "t0";
