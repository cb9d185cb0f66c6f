select (select coalesce(string_agg('{"__typename":"ShopThe_book","on_cover":' || to_json("t0"."title")::text || ',"authorId":' || "t0"."author_id"::text || '}', ','), '')
from (select "t0".*
from "public"."book" "t0"
where "t0"."is_published" = $1::"pg_catalog"."bool" and "t0"."author_id" is not null
order by "t0"."title" desc nulls last
limit 2) "t0"), (select '{"on_cover":' || to_json("t1"."title")::text || '}'
from "public"."book" "t1"
where "t1"."is_published" = $1::"pg_catalog"."bool" and "t1"."id" = $2::"pg_catalog"."int4"), (select '{"aggregate":{"count":' || count(*)::text || '}}'
from "public"."book" "t2"
where "t2"."is_published" = $1::"pg_catalog"."bool");
-- $1 = "true" (bool)
-- $2 = "1" (int4)
