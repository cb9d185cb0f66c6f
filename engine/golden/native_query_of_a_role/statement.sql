select coalesce(string_agg('{"painter_id":' || coalesce("t0"."painter_id"::text, 'null') || ',"titles":' || coalesce(to_json("t0"."titles")::text, 'null') || case when "t1"."id" is null then ',"painter":null}' else ',"painter":{"name":' || to_json("t1"."name")::text || '}}' end, ','), '')
from (select "painter_id"::"pg_catalog"."int4" as "painter_id", "lowest"::"pg_catalog"."numeric" as "lowest", "titles"::"pg_catalog"."text"[] as "titles"
from (select painter_id, min(price) as lowest, array_agg(title
order by title) as titles
from painting
where ($1::"pg_catalog"."text") is null or title ilike ($1::"pg_catalog"."text") group by painter_id
) "native") "t0"
left join "public"."painter" "t1" on "t1"."id" = "t0"."painter_id"
where "t0"."lowest" > $2::"pg_catalog"."numeric";
-- $1 = null (text)
-- $2 = "100" (numeric)
