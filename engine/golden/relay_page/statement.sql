select '{"pageInfo":{"hasNextPage":' || (count(*) > 2)::text || ',"hasPreviousPage":' || (exists (select 1
from "public"."author" "t1"
where "t1"."name" <> $1::"pg_catalog"."text" and ((("t1"."country" > $2::"pg_catalog"."text" or "t1"."country" is null)) or ("t1"."country" = $2::"pg_catalog"."text" and "t1"."id" > $3::"pg_catalog"."int4")) is not true))::text || ',"endCursor":"' || coalesce((array_agg(replace(encode(convert_to(json_build_object($4::"pg_catalog"."text", "t0"."country", $5::"pg_catalog"."text", "t0"."id")::text, 'UTF8'), 'base64'), chr(10), '')
order by "t0"."country" desc, "t0"."id" desc) filter (where "t0"."number in page" <= 2))[1], '') || '"},"edges":[' || coalesce(string_agg('{"cursor":"' || replace(encode(convert_to(json_build_object($4::"pg_catalog"."text", "t0"."country", $5::"pg_catalog"."text", "t0"."id")::text, 'UTF8'), 'base64'), chr(10), '') || '","node":{"id":"' || replace(encode(convert_to(json_build_array(1, $6::"pg_catalog"."text", $7::"pg_catalog"."text", "t0"."id")::text, 'UTF8'), 'base64'), chr(10), '') || '","name":' || to_json("t0"."name")::text || ',"books_connection":' || (select '{"pageInfo":{"hasPreviousPage":' || (count(*) > 1)::text || '},"edges":[' || coalesce(string_agg('{"node":{"id":"' || replace(encode(convert_to(json_build_array(1, $6::"pg_catalog"."text", $8::"pg_catalog"."text", "t2"."id")::text, 'UTF8'), 'base64'), chr(10), '') || '","title":' || to_json("t2"."title")::text || '}}', ','
order by "t2"."title", "t2"."id") filter (where "t2"."number in page" <= 1), '') || ']}'
from (select "t2".*, row_number() over () as "number in page"
from (select "t2".*
from "public"."book" "t2"
where "t2"."author_id" = "t0"."id"
order by "t2"."title" desc, "t2"."id" desc
limit 2) "t2") "t2") || '}}', ','
order by "t0"."country", "t0"."id") filter (where "t0"."number in page" <= 2), '') || ']}'
from (select "t0".*, row_number() over () as "number in page"
from (select "t0".*
from "public"."author" "t0"
where "t0"."name" <> $1::"pg_catalog"."text" and ((("t0"."country" > $2::"pg_catalog"."text" or "t0"."country" is null)) or ("t0"."country" = $2::"pg_catalog"."text" and "t0"."id" > $3::"pg_catalog"."int4"))
order by "t0"."country", "t0"."id"
limit 3) "t0") "t0";
-- $1 = "x" (text)
-- $2 = variable after.country (text)
-- $3 = variable after.id (int4)
-- $4 = "country" (text)
-- $5 = "id" (text)
-- $6 = "public" (text)
-- $7 = "author" (text)
-- $8 = "book" (text)
