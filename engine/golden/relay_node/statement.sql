select '{"id":"' || replace(encode(convert_to(json_build_array(1, $1::"pg_catalog"."text", $2::"pg_catalog"."text", "t0"."id")::text, 'UTF8'), 'base64'), chr(10), '') || '","title":' || to_json("t0"."title")::text || '}'
from "public"."book" "t0"
where "t0"."is_published" = $3::"pg_catalog"."bool" and "t0"."id" = $4::"pg_catalog"."int4";
-- $1 = "public" (text)
-- $2 = "book" (text)
-- $3 = "true" (bool)
-- $4 = variable id.3 (int4)
