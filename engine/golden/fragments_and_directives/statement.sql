select coalesce(string_agg("t2"."json", ','), '')
from (select '{"title":' || to_json("t0"."title")::text || case when "t1"."id" is null then ',"author":null,"always":"book","isShort":' else ',"author":{"name":' || to_json("t1"."name")::text || ',"id":' || "t1"."id"::text || '},"always":"book","isShort":' end || "t0"."is_published"::text || '}' as "json"
from "public"."book" "t0"
left join "public"."author" "t1" on "t1"."id" = "t0"."author_id"
where "t0"."id" <= $1::"pg_catalog"."int4"
order by "t0"."id") "t2";
-- $1 = "2" (int4)
