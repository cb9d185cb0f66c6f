select '[' || coalesce(string_agg("t2"."json", ','), '') || ']'
from (select '{"title":' || to_json("t0"."title")::text || ',"price":' || coalesce(case when scale("t0"."price") is not null then "t0"."price"::text else to_json("t0"."price")::text end, 'null') || case when "t1"."id" is null then ',"painter":null}' else ',"painter":{"name":' || to_json("t1"."name")::text || '}}' end as "json"
from "public"."raise_prices"("percent" => $1::"pg_catalog"."int4") "t0"
left join "public"."painter" "t1" on "t1"."id" = "t0"."painter_id"
order by "t0"."id") "t2";
-- $1 = "10" (int4)
