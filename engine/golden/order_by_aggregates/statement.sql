select (select coalesce(string_agg("t3"."json", ','), '')
from (select '{"name":' || to_json("t0"."name")::text || '}' as "json"
from "public"."author" "t0"
order by (select count(*)
from "public"."book" "t1"
where "t1"."author_id" = "t0"."id") desc, (select max("t2"."pages")
from "public"."book" "t2"
where "t2"."author_id" = "t0"."id") nulls first) "t3"), (select coalesce(string_agg('{"name":' || to_json("t4"."name")::text || '}', ','), '')
from (select "t4".*
from "public"."author" "t4"
order by (select avg("t5"."price")
from "public"."book" "t5"
where "t5"."author_id" = "t4"."id") desc nulls last
limit 2) "t4"), (select coalesce(string_agg("t10"."json", ','), '')
from (select '{"id":' || "t6"."id"::text || case when "t9"."id" is null then ',"author":null}' else ',"author":{"name":' || to_json("t9"."name")::text || '}}' end as "json"
from (select "t6".*, case when "t7"."id" is not null then (select count(*)
from "public"."book" "t8"
where "t8"."author_id" = "t7"."id") end as "order 0"
from "public"."book" "t6"
left join "public"."author" "t7" on "t7"."id" = "t6"."author_id"
order by case when "t7"."id" is not null then (select count(*)
from "public"."book" "t8"
where "t8"."author_id" = "t7"."id") end, "t6"."id" desc
limit 3) "t6"
left join "public"."author" "t9" on "t9"."id" = "t6"."author_id"
order by "t6"."order 0", "t6"."id" desc) "t10");
