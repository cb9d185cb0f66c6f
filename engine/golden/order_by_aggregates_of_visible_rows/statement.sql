select coalesce(string_agg("t2"."json", ','), '')
from (select '{"name":' || to_json("t0"."name")::text || '}' as "json"
from "public"."author" "t0"
order by (select count(*)
from "public"."book" "t1"
where "t1"."author_id" = "t0"."id" and "t1"."is_published" = $1::"pg_catalog"."bool") desc, "t0"."id" desc) "t2";
-- $1 = "true" (bool)
