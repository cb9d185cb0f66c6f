select (select coalesce(string_agg('{"name":' || to_json("t0"."name")::text || ',"cheap":[' || coalesce((select string_agg("t3"."json", ',')
from (select '{"title":' || to_json("t2"."title")::text || ',"label":' || coalesce(to_json("public"."painting_label"(row("t2"."id", "t2"."painter_id", "t2"."title", "t2"."main", "t2"."tags", "t2"."price", "t2"."details", "t2"."owner")::"public"."painting", "separator" => $1::"pg_catalog"."text"))::text, 'null') || '}' as "json"
from "public"."painter_cheap"(row("t0"."id", "t0"."name", "t0"."email", "t0"."is_active")::"public"."painter", "below" => $2::"pg_catalog"."numeric") "t2"
order by "t2"."price") "t3"), '') || ']}', ','), '')
from "public"."painter" "t0"
where exists (select 1
from "public"."painting" "t1"
where "t1"."painter_id" = "t0"."id" and "public"."painting_label"(row("t1"."id", "t1"."painter_id", "t1"."title", "t1"."main", "t1"."tags", "t1"."price", "t1"."details", "t1"."owner")::"public"."painting") like $3::"pg_catalog"."text")), (select coalesce(string_agg('{"label":' || coalesce(to_json("public"."painting_label"(row("t4"."id", "t4"."painter_id", "t4"."title", "t4"."main", "t4"."tags", "t4"."price", "t4"."details", "t4"."owner")::"public"."painting"))::text, 'null') || '}', ','), '')
from "public"."painting" "t4"
where "public"."painting_label"(row("t4"."id", "t4"."painter_id", "t4"."title", "t4"."main", "t4"."tags", "t4"."price", "t4"."details", "t4"."owner")::"public"."painting") = $4::"pg_catalog"."text");
-- $1 = ": " (text)
-- $2 = "600" (numeric)
-- $3 = "S%" (text)
-- $4 = "Judith, red" (text)
