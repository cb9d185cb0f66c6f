select coalesce(string_agg("t2"."json", ','), '')
from (select '{"name":' || to_json("t0"."name")::text || ',"cheap":[' || coalesce((select string_agg('{"title":' || to_json("t1"."title")::text || ',"label":' || coalesce(to_json("public"."painting_label"(row("t1".*)::"public"."painting"))::text, 'null') || '}', ',')
from "public"."painter_cheap"(row("t0".*)::"public"."painter", "below" => $1::"pg_catalog"."numeric") "t1"
where "t1"."owner" = $2::"pg_catalog"."int4"), '') || ']}' as "json"
from "public"."painter" "t0"
order by "t0"."id") "t2";
-- $1 = "1000" (numeric)
-- $2 = session x-engine-user-id (int4)
