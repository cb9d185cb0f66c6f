select coalesce(string_agg("t3"."json", ','), '')
from (select '{"name":' || to_json("t0"."name")::text || '}' as "json"
from "public"."author" "t0"
where ((select count(*)
from "public"."book" "t1"
where "t1"."author_id" = "t0"."id" and "t1"."is_published" = $1::"pg_catalog"."bool") >= $2::"pg_catalog"."int4" or (select count(distinct "t2"."title")
from "public"."book" "t2"
where "t2"."author_id" = "t0"."id" and "t2"."title" <> $3::"pg_catalog"."text" and "t2"."is_published" = $1::"pg_catalog"."bool") < $4::"pg_catalog"."int4")
order by "t0"."id") "t3";
-- $1 = "true" (bool)
-- $2 = variable least (int4)
-- $3 = "" (text)
-- $4 = "1" (int4)
