delete
from "public"."offer" "t0"
where "t0"."id" = $1::"pg_catalog"."int4"
returning '{"amount":' || case when scale("t0"."amount") is not null then "t0"."amount"::text else to_json("t0"."amount")::text end || '}';
-- $1 = "3" (int4)

with "written" as (insert into "public"."offer" as "t0" ("painting_id", "amount") values ($1::"pg_catalog"."int4", $2::"pg_catalog"."numeric")
returning "t0".*::"public"."offer" as "written row") select array_agg("written row")::text
from "written";
-- $1 = "3" (int4)
-- $2 = "200" (numeric)

select '{"amount":' || case when scale("t0"."amount") is not null then "t0"."amount"::text else to_json("t0"."amount")::text end || case when "t1"."id" is null then ',"painting":null}' else ',"painting":{"title":' || to_json("t1"."title")::text || '}}' end
from unnest($1::"public"."offer"[]) "t0"
left join "public"."painting" "t1" on "t1"."id" = "t0"."painting_id";
-- $1 = rows written (public.offer[])
