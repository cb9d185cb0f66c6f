select (select coalesce(string_agg('{"title":' || to_json("t0"."title")::text || ',"tags":' || to_json("t0"."tags")::text || '}', ','), '')
from "public"."painting" "t0"
where "t0"."tags" @> $1::"pg_catalog"."text"[] and not ("t0"."tags" = any(select "given"::"pg_catalog"."text"[]
from unnest($2::text[]) "given"))), (select '{"aggregate":{"max":{"tags":' || coalesce(to_json(max("t1"."tags"))::text, 'null') || '}}}'
from "public"."painting" "t1");
-- $1 = variable tags (text[])
-- $2 = [["a"] (text[]), ["b","c"] (text[])] (text[][])
