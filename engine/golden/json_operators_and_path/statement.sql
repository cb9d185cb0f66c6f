select (select coalesce(string_agg("t1"."json", ','), '')
from (select '{"id":' || "t0"."id"::text || '}' as "json"
from "public"."book" "t0"
where "t0"."details" @> $1::"pg_catalog"."jsonb"
order by "t0"."id") "t1"), (select coalesce(string_agg("t3"."json", ','), '')
from (select '{"id":' || "t2"."id"::text || '}' as "json"
from "public"."book" "t2"
where "t2"."details" @> $2::"pg_catalog"."jsonb"
order by "t2"."id") "t3"), (select coalesce(string_agg("t5"."json", ','), '')
from (select '{"id":' || "t4"."id"::text || '}' as "json"
from "public"."book" "t4"
where "t4"."details" <@ $3::"pg_catalog"."jsonb"
order by "t4"."id") "t5"), (select coalesce(string_agg('{"id":' || "t6"."id"::text || '}', ','), '')
from "public"."book" "t6"
where "t6"."details" ? $4::"pg_catalog"."text"), (select coalesce(string_agg("t8"."json", ','), '')
from (select '{"id":' || "t7"."id"::text || '}' as "json"
from "public"."book" "t7"
where "t7"."details" ?| $5::"pg_catalog"."text"[]
order by "t7"."id") "t8"), (select coalesce(string_agg('{"id":' || "t9"."id"::text || '}', ','), '')
from "public"."book" "t9"
where "t9"."details" ?& $6::"pg_catalog"."text"[]), (select coalesce(string_agg('{"id":' || "t10"."id"::text || '}', ','), '')
from "public"."book" "t10"
where "t10"."details"::"pg_catalog"."text" like $7::"pg_catalog"."text"), (select '{"details":' || "t11"."details"::text || ',"height":' || coalesce(("t11"."details" #> $8::"pg_catalog"."text"[])::text, 'null') || ',"second":' || coalesce(("t11"."details" #> $9::"pg_catalog"."text"[])::text, 'null') || ',"absent":' || coalesce(("t11"."details" #> $10::"pg_catalog"."text"[])::text, 'null') || ',"chosen":' || coalesce(("t11"."details" #> $11::"pg_catalog"."text"[])::text, 'null') || '}'
from "public"."book" "t11"
where "t11"."id" = $12::"pg_catalog"."int4");
-- $1 = "{\"tags\":[\"tech\"]}" (jsonb)
-- $2 = variable tags (jsonb)
-- $3 = "{\"tags\":[],\"rare\":true,\"more\":1}" (jsonb)
-- $4 = "size" (text)
-- $5 = variable keys (text[])
-- $6 = ["tags","rare"] (text[])
-- $7 = "%rare%" (text)
-- $8 = ["size","h"] (text[])
-- $9 = ["tags","1"] (text[])
-- $10 = ["no","such"] (text[])
-- $11 = ["size","w"] (text[])
-- $12 = "1" (int4)
