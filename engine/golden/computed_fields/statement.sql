select (select coalesce(string_agg('{"name":' || to_json("t0"."name")::text || ',"cheap":[' || coalesce((select string_agg("t3"."json", ',')
from (select '{"title":' || to_json("t2"."title")::text || ',"label":' || coalesce(to_json("public"."painting_label"(row("t2".*)::"public"."painting", "separator" => $1::"pg_catalog"."text"))::text, 'null') || '}' as "json"
from "public"."painter_cheap"(row("t0".*)::"public"."painter", "below" => $2::"pg_catalog"."numeric") "t2"
order by "t2"."price") "t3"), '') || ']}', ','), '')
from "public"."painter" "t0"
where exists (select 1
from "public"."painting" "t1"
where "t1"."painter_id" = "t0"."id" and "public"."painting_label"(row("t1".*)::"public"."painting") like $3::"pg_catalog"."text")), (select coalesce(string_agg('{"label":' || coalesce(to_json("public"."painting_label"(row("t4".*)::"public"."painting"))::text, 'null') || '}', ','), '')
from "public"."painting" "t4"
where "public"."painting_label"(row("t4".*)::"public"."painting") = $4::"pg_catalog"."text");
-- $1 = ": " (text)
-- $2 = "600" (numeric)
-- $3 = "S%" (text)
-- $4 = "Judith, red" (text)
