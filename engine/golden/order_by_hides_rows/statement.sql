select coalesce(string_agg("t5"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || ',"books":[' || coalesce((select string_agg('{"title":' || to_json("t1"."title")::text || ',"reviews":[' || coalesce((select string_agg("t4"."json", ',')
from (select '{"stars":' || "t3"."stars"::text || '}' as "json"
from "public"."review" "t3"
where "t3"."book_id" = "t1"."id"
order by "t3"."stars" desc) "t4"), '') || ']}', ',')
from (select "t1".*
from "public"."book" "t1" join "public"."author" "t2" on "t2"."id" = "t1"."author_id"
where "t1"."author_id" = "t0"."id" and "t2"."country" = any($1::"pg_catalog"."text"[])
order by "t1"."title" desc
limit 1) "t1"), '') || ']}' as "json"
from "public"."author" "t0"
order by "t0"."id") "t5";
-- $1 = session x-engine-countries (text[])
