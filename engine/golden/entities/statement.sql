select (select '[' || coalesce(string_agg("t2"."json", ','), '') || ']'
from (select case when "t1"."id" is null then '{"entity":null}' else '{"entity":{"name":' || to_json("t1"."name")::text || '}}' end as "json"
from (select "key1", "ordinal"
from unnest($1::"pg_catalog"."int4"[]) with ordinality "given"("key1", "ordinal")) "t0"
left join "public"."author" "t1" on "t1"."id" = "t0"."key1"
order by "t0"."ordinal") "t2"), (select '[' || coalesce(string_agg("t6"."json", ','), '') || ']'
from (select case when "t4"."id" is null then '{"entity":null}' else '{"entity":{"title":' || to_json("t4"."title")::text || case when "t5"."id" is null then ',"author":null}}' else ',"author":{"name":' || to_json("t5"."name")::text || '}}}' end end as "json"
from (select "key1", "ordinal"
from unnest($2::"pg_catalog"."int4"[]) with ordinality "given"("key1", "ordinal")) "t3"
left join "public"."book" "t4" on "t4"."id" = "t3"."key1" and "t4"."is_published" = $3::"pg_catalog"."bool"
left join "public"."author" "t5" on "t5"."id" = "t4"."author_id"
order by "t3"."ordinal") "t6");
-- $1 = variable (keys).0.0 (int4[])
-- $2 = variable (keys).1.0 (int4[])
-- $3 = "true" (bool)
