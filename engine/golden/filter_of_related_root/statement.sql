select coalesce(string_agg("t6"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || ',"books":[' || coalesce((select string_agg("t5"."json", ',')
from (select '{"id":' || "t3"."id"::text || '}' as "json"
from "public"."book" "t3" join "public"."author" "t4" on "t4"."id" = "t3"."author_id"
where "t3"."author_id" = "t0"."id" and "t4"."id" <> "t3"."translator_id"
order by "t3"."id") "t5"), '') || ']}' as "json"
from "public"."author" "t0"
where exists (select 1
from "public"."book" "t1" join "public"."author" "t2" on "t2"."id" = "t1"."author_id"
where "t1"."author_id" = "t0"."id" and "t1"."id" > $1::"pg_catalog"."int4" and "t2"."id" <> "t1"."translator_id")
order by "t0"."id") "t6";
-- $1 = "0" (int4)
