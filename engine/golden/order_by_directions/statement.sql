select (select coalesce(string_agg("t1"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || ',"price":' || coalesce(case when scale("t0"."price") is not null then "t0"."price"::text else to_json("t0"."price")::text end, 'null') || '}' as "json"
from "public"."book" "t0"
order by "t0"."price", "t0"."id") "t1"), (select coalesce(string_agg("t3"."json", ','), '')
from (select '{"id":' || "t2"."id"::text || '}' as "json"
from "public"."book" "t2"
order by "t2"."price" nulls first, "t2"."id") "t3"), (select coalesce(string_agg("t5"."json", ','), '')
from (select '{"id":' || "t4"."id"::text || '}' as "json"
from "public"."book" "t4"
order by "t4"."price" desc, "t4"."id" desc) "t5"), (select coalesce(string_agg("t7"."json", ','), '')
from (select '{"id":' || "t6"."id"::text || '}' as "json"
from "public"."book" "t6"
order by "t6"."price" desc nulls last) "t7"), (select coalesce(string_agg("t10"."json", ','), '')
from (select '{"id":' || "t8"."id"::text || case when "t9"."id" is null then ',"author":null}' else ',"author":{"name":' || to_json("t9"."name")::text || ',"country":' || coalesce(to_json("t9"."country")::text, 'null') || '}}' end as "json"
from "public"."book" "t8"
left join "public"."author" "t9" on "t9"."id" = "t8"."author_id"
order by "t9"."country", "t9"."name" desc, "t8"."id" desc) "t10"), (select coalesce(string_agg('{"id":' || "t11"."id"::text || '}', ','), '')
from (select "t11".*
from "public"."book" "t11"
left join "public"."author" "t12" on "t12"."id" = "t11"."translator_id"
order by "t12"."name" desc nulls last, "t11"."id"
limit 3) "t11");
