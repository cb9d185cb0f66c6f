select (select '[' || coalesce(string_agg('{"name":' || to_json("t0"."name")::text || '}', ','), '') || ']'
from "public"."author" "t0"
where exists (select 1
from "public"."book" "t1"
where "t1"."author_id" = "t0"."id" and "t1"."is_published" = $1::"pg_catalog"."bool" and "t1"."title" = $2::"pg_catalog"."text")), (select '[' || coalesce(string_agg('{"name":' || to_json("t2"."name")::text || '}', ','), '') || ']'
from "public"."author" "t2"
where exists (select 1
from "public"."book" "t3"
where "t3"."author_id" = "t2"."id" and "t3"."is_published" = $1::"pg_catalog"."bool" and "t3"."title" = $3::"pg_catalog"."text")), (select '[' || coalesce(string_agg("t6"."json", ','), '') || ']'
from (select '{"name":' || to_json("t4"."name")::text || '}' as "json"
from "public"."author" "t4"
where not (exists (select 1
from "public"."book" "t5"
where "t5"."author_id" = "t4"."id" and "t5"."is_published" = $1::"pg_catalog"."bool" and "t5"."title" = $3::"pg_catalog"."text"))
order by "t4"."id") "t6"), (select '[' || coalesce(string_agg('{"name":' || to_json("t7"."name")::text || '}', ','), '') || ']'
from "public"."author" "t7"
where exists (select 1
from "public"."book" "t8"
where "t8"."author_id" = "t7"."id" and "t8"."is_published" = $1::"pg_catalog"."bool" and exists (select 1
from "public"."review" "t9"
where "t9"."book_id" = "t8"."id" and "t9"."member_id" = $4::"pg_catalog"."int4" and "t9"."stars" >= $5::"pg_catalog"."int2")));
-- $1 = "true" (bool)
-- $2 = "Verses" (text)
-- $3 = "Drafts" (text)
-- $4 = session x-engine-user-id (int4)
-- $5 = "5" (int2)
