select coalesce(string_agg("t5"."json", ','), '')
from (select '{"name":' || to_json("t0"."name")::text || ',"books_aggregate":' || (select '{"aggregate":{"count":' || count(*)::text || ',"max":{"pages":' || coalesce(max("t1"."pages")::text, 'null') || '}},"nodes":[' || coalesce(string_agg('{"title":' || to_json("t1"."title")::text || case when "t2"."id" is null then ',"author":null,"reviews_aggregate":' else ',"author":{"name":' || to_json("t2"."name")::text || '},"reviews_aggregate":' end || (select '{"aggregate":{"avg":{"stars":' || coalesce(avg("t3"."stars")::text, 'null') || '}}}'
from "public"."review" "t3"
where "t3"."book_id" = "t1"."id") || '}', ','
order by "t1"."title" desc), '') || ']}'
from "public"."book" "t1"
left join "public"."author" "t2" on "t2"."id" = "t1"."author_id"
where "t1"."author_id" = "t0"."id" and "t1"."is_published" = $1::"pg_catalog"."bool") || ',"first":' || (select '{"aggregate":{"count":' || count(*)::text || ',"sum":{"pages":' || coalesce(sum("t4"."pages")::text, 'null') || '}}}'
from (select "t4".*
from "public"."book" "t4"
where "t4"."author_id" = "t0"."id"
order by "t4"."id"
limit 1) "t4") || '}' as "json"
from "public"."author" "t0"
order by "t0"."id") "t5";
-- $1 = "true" (bool)
