select coalesce(string_agg("t9"."json", ','), '')
from (select '{"name":' || to_json("t0"."name")::text || ',"books":[' || coalesce((select string_agg("t8"."json", ',')
from (select '{"title":' || to_json("t1"."title")::text || case when "t2"."id" is null then ',"translator":null,"reviews":[' else ',"translator":{"name":' || to_json("t2"."name")::text || '},"reviews":[' end || coalesce((select string_agg("t7"."json", ',')
from (select '{"stars":' || "t3"."stars"::text || case when "t4"."id" is null then ',"member":null' else ',"member":{"name":' || to_json("t4"."name")::text || '}' end || case when "t5"."id" is null then ',"book":null}' else case when "t6"."id" is null then ',"book":{"author":null}}' else ',"book":{"author":{"name":' || to_json("t6"."name")::text || '}}}' end end as "json"
from "public"."review" "t3"
left join "public"."member" "t4" on "t4"."id" = "t3"."member_id"
left join "public"."book" "t5" on "t5"."id" = "t3"."book_id"
left join "public"."author" "t6" on "t6"."id" = "t5"."author_id"
where "t3"."book_id" = "t1"."id" and "t3"."stars" > $1::"pg_catalog"."int2"
order by "t3"."stars" desc) "t7"), '') || ']}' as "json"
from "public"."book" "t1"
left join "public"."author" "t2" on "t2"."id" = "t1"."translator_id"
where "t1"."author_id" = "t0"."id" and "t1"."is_published" = $2::"pg_catalog"."bool"
order by "t1"."pages" desc) "t8"), '') || ']}' as "json"
from "public"."author" "t0"
order by "t0"."name") "t9";
-- $1 = "3" (int2)
-- $2 = "true" (bool)
