select (select coalesce(string_agg('{"author_id":' || "t0"."author_id"::text || ',"title":' || to_json("t0"."title")::text || '}', ','), '')
from (select distinct on ("t0"."author_id") "t0".*
from "public"."book" "t0"
order by "t0"."author_id", "t0"."price" desc nulls last) "t0"), (select coalesce(string_agg('{"id":' || "t1"."id"::text || ',"pages":' || coalesce("t1"."pages"::text, 'null') || ',"is_published":' || "t1"."is_published"::text || '}', ','), '')
from (select distinct on ("t1"."pages", "t1"."is_published") "t1".*
from "public"."book" "t1"
order by "t1"."is_published", "t1"."pages", "t1"."id") "t1");
