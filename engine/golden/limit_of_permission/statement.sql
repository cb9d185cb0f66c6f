select (select coalesce(string_agg('{"id":' || "t0"."id"::text || '}', ','), '')
from (select "t0".*
from "public"."book" "t0"
where "t0"."is_published" = $1::"pg_catalog"."bool"
order by "t0"."id"
limit 3) "t0"), (select coalesce(string_agg('{"id":' || "t1"."id"::text || '}', ','), '')
from (select "t1".*
from "public"."book" "t1"
where "t1"."is_published" = $1::"pg_catalog"."bool"
order by "t1"."id"
limit 1
offset 1) "t1"), (select coalesce(string_agg('{"id":' || "t2"."id"::text || '}', ','), '')
from (select "t2".*
from "public"."book" "t2"
where "t2"."is_published" = $1::"pg_catalog"."bool"
order by "t2"."id"
limit 3) "t2"), (select coalesce(string_agg('{"id":' || "t3"."id"::text || '}', ','), '')
from (select "t3".*
from "public"."book" "t3"
where "t3"."is_published" = $1::"pg_catalog"."bool"
limit 0) "t3"), (select coalesce(string_agg("t6"."json", ','), '')
from (select '{"name":' || to_json("t4"."name")::text || ',"books":[' || coalesce((select string_agg('{"id":' || "t5"."id"::text || '}', ',')
from (select "t5".*
from "public"."book" "t5"
where "t5"."author_id" = "t4"."id" and "t5"."is_published" = $1::"pg_catalog"."bool"
order by "t5"."id" desc
limit 3) "t5"), '') || ']}' as "json"
from "public"."author" "t4"
order by "t4"."id") "t6");
-- $1 = "true" (bool)
