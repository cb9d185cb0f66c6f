select (select '{"aggregate":{"count":' || count(*)::text || ',"sum":{"pages":' || coalesce(sum("t0"."pages")::text, 'null') || '}},"nodes":[' || coalesce((select string_agg('{"id":' || "t1"."id"::text || '}', ',')
from (select "t1".*
from "public"."book" "t1"
where "t1"."is_published" = $1::"pg_catalog"."bool"
order by "t1"."id"
limit 2) "t1"), '') || ']}'
from "public"."book" "t0"
where "t0"."is_published" = $1::"pg_catalog"."bool"), (select '{"aggregate":{"count":' || count(*)::text || '},"nodes":[' || coalesce(string_agg('{"id":' || "t2"."id"::text || '}', ','
order by "t2"."id"), '') || ']}'
from (select "t2".*
from "public"."book" "t2"
where "t2"."is_published" = $1::"pg_catalog"."bool"
order by "t2"."id"
limit 1) "t2"), (select '{"aggregate":{"count":' || count(*)::text || '},"nodes":[' || coalesce((select string_agg('{"id":' || "t4"."id"::text || '}', ',')
from (select "t4".*
from "public"."book" "t4"
where "t4"."is_published" = $1::"pg_catalog"."bool"
order by "t4"."id"
limit 2) "t4"), '') || ']}'
from (select "t3".*
from "public"."book" "t3"
where "t3"."is_published" = $1::"pg_catalog"."bool"
order by "t3"."id"
limit 3) "t3"), (select coalesce(string_agg("t8"."json", ','), '')
from (select '{"books_aggregate":' || (select '{"nodes":[' || coalesce((select string_agg('{"id":' || "t7"."id"::text || '}', ',')
from (select "t7".*
from "public"."book" "t7"
where "t7"."author_id" = "t5"."id" and "t7"."is_published" = $1::"pg_catalog"."bool"
order by "t7"."id" desc
limit 2) "t7"), '') || '],"aggregate":{"count":' || count(*)::text || '}}'
from "public"."book" "t6"
where "t6"."author_id" = "t5"."id" and "t6"."is_published" = $1::"pg_catalog"."bool") || '}' as "json"
from "public"."author" "t5"
order by "t5"."id") "t8");
-- $1 = "true" (bool)
