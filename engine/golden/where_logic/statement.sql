select (select coalesce(string_agg("t1"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || '}' as "json"
from "public"."book" "t0"
order by "t0"."id") "t1"), (select coalesce(string_agg('{"id":' || "t2"."id"::text || '}', ','), '')
from "public"."book" "t2"
where false), (select coalesce(string_agg("t4"."json", ','), '')
from (select '{"id":' || "t3"."id"::text || '}' as "json"
from "public"."book" "t3"
order by "t3"."id") "t4"), (select coalesce(string_agg("t6"."json", ','), '')
from (select '{"id":' || "t5"."id"::text || '}' as "json"
from "public"."book" "t5"
where ("t5"."id" = $1::"pg_catalog"."int4" or ("t5"."is_published" = $2::"pg_catalog"."bool" and "t5"."id" > $3::"pg_catalog"."int4"))
order by "t5"."id") "t6"), (select coalesce(string_agg('{"id":' || "t7"."id"::text || '}', ','), '')
from "public"."book" "t7"
where "t7"."id" = $1::"pg_catalog"."int4" and "t7"."title" = $4::"pg_catalog"."text"), (select coalesce(string_agg("t9"."json", ','), '')
from (select '{"id":' || "t8"."id"::text || '}' as "json"
from "public"."book" "t8"
where not (("t8"."id" = $1::"pg_catalog"."int4" or "t8"."id" = $3::"pg_catalog"."int4"))
order by "t8"."id") "t9");
-- $1 = "1" (int4)
-- $2 = "false" (bool)
-- $3 = "2" (int4)
-- $4 = "Notes" (text)
