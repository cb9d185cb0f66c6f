select (select coalesce(string_agg("t1"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || ',"amount":' || "t0"."amount"::text || '}' as "json"
from "stock"."shelf" "t0"
where "t0"."amount" >= $1::"pg_catalog"."int8" and "t0"."id" > $2::"pg_catalog"."int8"
order by "t0"."id") "t1"), (select '{"id":' || "t2"."id"::text || ',"book_id":' || coalesce("t2"."book_id"::text, 'null') || '}'
from "stock"."shelf" "t2"
where "t2"."id" = $3::"pg_catalog"."int8"), (select coalesce(string_agg("t4"."json", ','), '')
from (select '{"price":' || coalesce(case when scale("t3"."price") is not null then "t3"."price"::text else to_json("t3"."price")::text end, 'null') || ',"added_at":' || to_json("t3"."added_at")::text || ',"title":' || to_json("t3"."title")::text || '}' as "json"
from "public"."book" "t3"
where "t3"."added_at" < $4::"pg_catalog"."timestamptz" and "t3"."price" < $5::"pg_catalog"."numeric"
order by "t3"."id") "t4"), (select coalesce(string_agg('{"id":' || coalesce("t5"."id"::text, 'null') || ',"title":' || coalesce(to_json("t5"."title")::text, 'null') || '}', ','), '')
from "public"."cheap_book" "t5"
where "t5"."price" = $6::"pg_catalog"."numeric"), (select coalesce(string_agg('{"stars":' || "t6"."stars"::text || ',"body":' || coalesce(to_json("t6"."body")::text, 'null') || '}', ','), '')
from "public"."review" "t6"
where "t6"."stars" = $7::"pg_catalog"."int2");
-- $1 = "0" (int8)
-- $2 = "1" (int8)
-- $3 = "9007199254740993" (int8)
-- $4 = "2025-01-01" (timestamptz)
-- $5 = "9.995" (numeric)
-- $6 = "7.00" (numeric)
-- $7 = "5" (int2)
