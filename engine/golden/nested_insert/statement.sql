insert into "public"."painter" as "t0" ("name") values ($1::"pg_catalog"."text")
returning '1'::text, "t0"."id"::text;
-- $1 = "Victorine" (text)

insert into "public"."painting" as "t0" ("painter_id", "title") values ($1::"pg_catalog"."int4", $2::"pg_catalog"."text")
returning '1'::text, "t0"."id"::text, array["t0".*::"public"."painting"]::text;
-- $1 = kept 0 of step 0 (int4)
-- $2 = "Olympia" (text)

with "written" as (insert into "public"."offer" as "t0" ("painting_id", "amount") select "t1"."c0"::"pg_catalog"."int4", "t1"."c1"::"pg_catalog"."numeric"
from unnest($1::"pg_catalog"."text"[], $2::"pg_catalog"."text"[]) "t1"("c0", "c1")
returning 1) select count(*)::text
from "written";
-- $1 = [kept 0 of step 1 (int4), kept 0 of step 1 (int4)] (text[])
-- $2 = ["1" (numeric), "2" (numeric)] (text[])

select '{"title":' || to_json("t0"."title")::text || case when "t1"."id" is null then ',"painter":null,"offers":[' else ',"painter":{"name":' || to_json("t1"."name")::text || '},"offers":[' end || coalesce((select string_agg("t3"."json", ',')
from (select '{"amount":' || case when scale("t2"."amount") is not null then "t2"."amount"::text else to_json("t2"."amount")::text end || '}' as "json"
from "public"."offer" "t2"
where "t2"."painting_id" = "t0"."id"
order by "t2"."amount") "t3"), '') || ']}'
from unnest($1::"public"."painting"[]) "t0"
left join "public"."painter" "t1" on "t1"."id" = "t0"."painter_id";
-- $1 = rows written (public.painting[])
