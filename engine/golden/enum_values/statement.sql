select coalesce(string_agg('{"main":' || to_json("t0"."main")::text || ',"second":' || coalesce(to_json("t0"."second")::text, 'null') || '}', ','), '')
from "public"."painting" "t0"
where "t0"."main" = $1::"pg_catalog"."text" and "t0"."second" = any($2::"pg_catalog"."text"[]);
-- $1 = variable main (text)
-- $2 = ["red","blue"] (text[])
