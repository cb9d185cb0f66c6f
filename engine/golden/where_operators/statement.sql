select (select coalesce(string_agg("t1"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || '}' as "json"
from "public"."book" "t0"
where "t0"."id" = any($1::"pg_catalog"."int4"[])
order by "t0"."id") "t1"), (select coalesce(string_agg('{"id":' || "t2"."id"::text || '}', ','), '')
from "public"."book" "t2"
where "t2"."id" = any($2::"pg_catalog"."int4"[])), (select coalesce(string_agg("t4"."json", ','), '')
from (select '{"id":' || "t3"."id"::text || '}' as "json"
from "public"."book" "t3"
where "t3"."id" <> all($3::"pg_catalog"."int4"[])
order by "t3"."id") "t4"), (select coalesce(string_agg("t6"."json", ','), '')
from (select '{"id":' || "t5"."id"::text || ',"pages":' || coalesce("t5"."pages"::text, 'null') || '}' as "json"
from "public"."book" "t5"
where "t5"."pages" >= $4::"pg_catalog"."int4" and "t5"."pages" < $5::"pg_catalog"."int4"
order by "t5"."id") "t6"), (select coalesce(string_agg("t8"."json", ','), '')
from (select '{"title":' || to_json("t7"."title")::text || '}' as "json"
from "public"."book" "t7"
where "t7"."title" ilike $6::"pg_catalog"."text"
order by "t7"."id") "t8"), (select coalesce(string_agg("t10"."json", ','), '')
from (select '{"title":' || to_json("t9"."title")::text || '}' as "json"
from "public"."book" "t9"
where "t9"."title" ~ $7::"pg_catalog"."text"
order by "t9"."id") "t10"), (select coalesce(string_agg("t12"."json", ','), '')
from (select '{"id":' || "t11"."id"::text || ',"price":' || coalesce(case when scale("t11"."price") is not null then "t11"."price"::text else to_json("t11"."price")::text end, 'null') || '}' as "json"
from "public"."book" "t11"
where "t11"."price" is not null
order by "t11"."id") "t12"), (select coalesce(string_agg('{"name":' || to_json("t13"."name")::text || '}', ','), '')
from "public"."author" "t13"
where "t13"."name" = $8::"pg_catalog"."text"), (select coalesce(string_agg('{"name":' || to_json("t14"."name")::text || ',"born":' || coalesce(to_json("t14"."born")::text, 'null') || '}', ','), '')
from "public"."author" "t14"
where "t14"."born" > $9::"pg_catalog"."date");
-- $1 = variable ids (int4[])
-- $2 = [] (int4[])
-- $3 = ["1","2","3"] (int4[])
-- $4 = "100" (int4)
-- $5 = "300" (int4)
-- $6 = variable pattern (text)
-- $7 = "^[EN]" (text)
-- $8 = "Cy \"Quote\" O'Neil" (text)
-- $9 = "1950-01-01" (date)
