select (select '{"aggregate":{"count":' || count(*)::text || ',"sum":{"pages":' || coalesce(sum("t0"."pages")::text, 'null') || '}},"nodes":[' || coalesce(string_agg('{"id":' || "t0"."id"::text || '}', ','
order by "t0"."pages" desc nulls last), '') || ']}'
from (select "t0".*
from "public"."book" "t0"
order by "t0"."pages" desc nulls last
limit 2
offset 1) "t0"), (select '{"nodes":[' || coalesce(string_agg(case when "t3"."id" is null then '{"author":null}' else '{"author":{"name":' || to_json("t3"."name")::text || '}}' end, ','
order by "t1"."author_id", "t1"."order 1", "t1"."id"), '') || '],"again":[' || coalesce(string_agg('{"id":' || "t1"."id"::text || '}', ','
order by "t1"."author_id", "t1"."order 1", "t1"."id"), '') || '],"aggregate":{"count":' || count(*)::text || '}}'
from (select distinct on ("t1"."author_id") "t1".*, "t2"."name" as "order 1"
from "public"."book" "t1"
left join "public"."author" "t2" on "t2"."id" = "t1"."author_id"
order by "t1"."author_id", "t2"."name", "t1"."id") "t1"
left join "public"."author" "t3" on "t3"."id" = "t1"."author_id"), (select '{"nodes":[' || coalesce(string_agg('{"title":' || to_json("t4"."title")::text || case when "t5"."id" is null then ',"author":null}' else ',"author":{"name":' || to_json("t5"."name")::text || '}}' end, ','
order by "t5"."name" desc, "t4"."id"), '') || '],"aggregate":{"count":' || count(distinct "t4"."author_id")::text || '}}'
from "public"."book" "t4"
left join "public"."author" "t5" on "t5"."id" = "t4"."author_id"
where "t4"."is_published" = $1::"pg_catalog"."bool"), (select '{"aggregate":{"__typename":"book_aggregate_fields"},"nodes":[' || coalesce(string_agg('{"__typename":"book"}'::text, ','), '') || ']}'
from "public"."book" "t6"), (select '{"aggregate":{"__typename":"book_aggregate_fields"}}'::text);
-- $1 = "true" (bool)
