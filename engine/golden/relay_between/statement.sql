select (select '{"pageInfo":{"hasNextPage":' || (exists (select 1
from "public"."book" "t1"
where "t1"."is_published" = $1::"pg_catalog"."bool" and ((("t1"."pages" > $2::"pg_catalog"."int4" or "t1"."pages" is null)) or ("t1"."pages" = $2::"pg_catalog"."int4" and "t1"."title" < $3::"pg_catalog"."text") or ("t1"."pages" = $2::"pg_catalog"."int4" and "t1"."title" = $3::"pg_catalog"."text" and "t1"."id" < $4::"pg_catalog"."int4")) is not true))::text || ',"startCursor":"' || coalesce((array_agg(replace(encode(convert_to(json_build_object($5::"pg_catalog"."text", "t0"."pages", $6::"pg_catalog"."text", "t0"."title", $7::"pg_catalog"."text", "t0"."id")::text, 'UTF8'), 'base64'), chr(10), '')
order by "t0"."pages" desc, "t0"."title", "t0"."id") filter (where "t0"."number in page" <= 2))[1], '') || '"},"edges":[' || coalesce(string_agg('{"node":{"title":' || to_json("t0"."title")::text || '}}', ','
order by "t0"."pages" desc, "t0"."title", "t0"."id") filter (where "t0"."number in page" <= 2), '') || ']}'
from (select "t0".*, row_number() over () as "number in page"
from (select "t0".*
from "public"."book" "t0"
where "t0"."is_published" = $1::"pg_catalog"."bool" and ((("t0"."pages" > $2::"pg_catalog"."int4" or "t0"."pages" is null)) or ("t0"."pages" = $2::"pg_catalog"."int4" and "t0"."title" < $3::"pg_catalog"."text") or ("t0"."pages" = $2::"pg_catalog"."int4" and "t0"."title" = $3::"pg_catalog"."text" and "t0"."id" < $4::"pg_catalog"."int4"))
order by "t0"."pages", "t0"."title" desc, "t0"."id" desc
limit 3) "t0") "t0"), (select '{"pageInfo":{"hasNextPage":' || (count(*) > 1)::text || ',"hasPreviousPage":' || (exists (select 1
from "public"."book" "t3"
where "t3"."is_published" = $1::"pg_catalog"."bool" and ("t3"."id") <= ($8::"pg_catalog"."int4")))::text || '},"edges":[' || coalesce(string_agg('{"node":{"title":' || to_json("t2"."title")::text || '}}', ','
order by "t2"."id") filter (where "t2"."number in page" <= 1), '') || ']}'
from (select "t2".*, row_number() over () as "number in page"
from (select "t2".*
from "public"."book" "t2"
where "t2"."is_published" = $1::"pg_catalog"."bool" and ("t2"."id") > ($8::"pg_catalog"."int4")
order by "t2"."id"
limit 2) "t2") "t2");
-- $1 = "true" (bool)
-- $2 = "120" (int4)
-- $3 = "Notes" (text)
-- $4 = "2" (int4)
-- $5 = "pages" (text)
-- $6 = "title" (text)
-- $7 = "id" (text)
-- $8 = "1" (int4)
