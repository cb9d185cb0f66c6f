with "written" as (insert into "public"."painting" as "t0" ("painter_id", "title", "main", "tags", "price", "owner") values ($1::"pg_catalog"."int4", $2::"pg_catalog"."text", $3::"pg_catalog"."text", $4::"pg_catalog"."text"[], $5::"pg_catalog"."numeric", $6::"pg_catalog"."int4"), ($7::"pg_catalog"."int4", $8::"pg_catalog"."text", default, default, $9::"pg_catalog"."numeric", $6::"pg_catalog"."int4")
returning "t0".*::"public"."painting" as "written row", ("t0"."price" > $10::"pg_catalog"."numeric") is true as "check passes") select array_agg("written row")::text, case when bool_and("check passes") is not false then 0 else (current_user || ': the check of a permission has failed')::int end
from "written";
-- $1 = variable rows.0.painter_id (int4)
-- $2 = variable rows.0.title (text)
-- $3 = variable rows.0.main (text)
-- $4 = variable rows.0.tags (text[])
-- $5 = variable rows.0.price (numeric)
-- $6 = session x-engine-user-id (int4)
-- $7 = variable rows.1.painter_id (int4)
-- $8 = variable rows.1.title (text)
-- $9 = variable rows.1.price (numeric)
-- $10 = "0" (numeric)

select '{"affected_rows":' || count(*)::text || ',"returning":[' || coalesce(string_agg('{"title":' || to_json("t0"."title")::text || ',"label":' || coalesce(to_json("public"."painting_label"(row("t0".*)::"public"."painting"))::text, 'null') || case when "t1"."id" is null then ',"painter":null}' else ',"painter":{"name":' || to_json("t1"."name")::text || '}}' end, ','), '') || ']}'
from unnest($1::"public"."painting"[]) "t0"
left join "public"."painter" "t1" on "t1"."id" = "t0"."painter_id";
-- $1 = rows written (public.painting[])
