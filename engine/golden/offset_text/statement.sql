select coalesce(string_agg('{"id":' || "t0"."id"::text || '}', ','), '')
from (select "t0".*
from "public"."author" "t0"
order by "t0"."id"
offset 2) "t0";
