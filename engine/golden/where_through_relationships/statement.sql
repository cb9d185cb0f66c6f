select (select coalesce(string_agg('{"name":' || to_json("t0"."name")::text || '}', ','), '')
from "public"."author" "t0"
where exists (select 1
from "public"."book" "t1"
where "t1"."author_id" = "t0"."id" and "t1"."title" = $1::"pg_catalog"."text" and "t1"."is_published" = $2::"pg_catalog"."bool")), (select coalesce(string_agg('{"name":' || to_json("t2"."name")::text || '}', ','), '')
from "public"."author" "t2"
where exists (select 1
from "public"."book" "t3"
where "t3"."author_id" = "t2"."id" and "t3"."title" = $3::"pg_catalog"."text" and "t3"."is_published" = $2::"pg_catalog"."bool")), (select coalesce(string_agg("t6"."json", ','), '')
from (select '{"name":' || to_json("t4"."name")::text || '}' as "json"
from "public"."author" "t4"
where not (exists (select 1
from "public"."book" "t5"
where "t5"."author_id" = "t4"."id" and "t5"."title" = $3::"pg_catalog"."text" and "t5"."is_published" = $2::"pg_catalog"."bool"))
order by "t4"."id") "t6"), (select coalesce(string_agg('{"name":' || to_json("t7"."name")::text || '}', ','), '')
from "public"."author" "t7"
where exists (select 1
from "public"."book" "t8"
where "t8"."author_id" = "t7"."id" and exists (select 1
from "public"."review" "t9"
where "t9"."book_id" = "t8"."id" and "t9"."stars" >= $4::"pg_catalog"."int2" and "t9"."member_id" = $5::"pg_catalog"."int4") and "t8"."is_published" = $2::"pg_catalog"."bool"));
-- $1 = "Verses" (text)
-- $2 = "true" (bool)
-- $3 = "Drafts" (text)
-- $4 = "5" (int2)
-- $5 = session x-engine-user-id (int4)
