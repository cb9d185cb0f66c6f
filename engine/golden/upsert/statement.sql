with "written" as (insert into "public"."painter" as "t0" ("name", "email") values ($1::"pg_catalog"."text", $2::"pg_catalog"."text"), ($3::"pg_catalog"."text", default) on conflict on constraint "painter_name_key" do update set "email" = "excluded"."email"
where "t0"."is_active" = $4::"pg_catalog"."bool"
returning "t0".*) select '{"affected_rows":' || count(*)::text || ',"returning":[' || coalesce(string_agg('{"name":' || to_json("t1"."name")::text || ',"email":' || coalesce(to_json("t1"."email")::text, 'null') || '}', ','), '') || ']}'
from "written" "t1";
-- $1 = "Berthe" (text)
-- $2 = "b@example.org" (text)
-- $3 = "Clara" (text)
-- $4 = "true" (bool)
