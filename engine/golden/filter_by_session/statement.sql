select (select coalesce(string_agg('{"book_id":' || "t0"."book_id"::text || ',"stars":' || "t0"."stars"::text || ',"body":' || coalesce(to_json("t0"."body")::text, 'null') || '}', ','), '')
from "public"."review" "t0"
where "t0"."member_id" = $1::"pg_catalog"."int4"), (select coalesce(string_agg('{"title":' || to_json("t1"."title")::text || ',"reviews":[' || coalesce((select string_agg('{"stars":' || "t2"."stars"::text || '}', ',')
from "public"."review" "t2"
where "t2"."book_id" = "t1"."id" and "t2"."member_id" = $1::"pg_catalog"."int4"), '') || ']}', ','), '')
from (select "t1".*
from "public"."book" "t1"
where "t1"."is_published" = $2::"pg_catalog"."bool"
order by "t1"."id"
limit 3) "t1");
-- $1 = session x-engine-user-id (int4)
-- $2 = "true" (bool)
