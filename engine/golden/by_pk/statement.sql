select (select '{"title":' || to_json("t0"."title")::text || case when "t1"."id" is null then ',"author":null' else ',"author":{"name":' || to_json("t1"."name")::text || '}' end || case when "t2"."id" is null then ',"translator":null}' else ',"translator":{"name":' || to_json("t2"."name")::text || '}}' end
from "public"."book" "t0"
left join "public"."author" "t1" on "t1"."id" = "t0"."author_id"
left join "public"."author" "t2" on "t2"."id" = "t0"."translator_id"
where "t0"."id" = $1::"pg_catalog"."int4"), (select '{"title":' || to_json("t3"."title")::text || '}'
from "public"."book" "t3"
where "t3"."id" = $2::"pg_catalog"."int4");
-- $1 = variable id (int4)
-- $2 = "404" (int4)
