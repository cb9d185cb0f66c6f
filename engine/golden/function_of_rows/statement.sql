select coalesce(string_agg("t1"."json", ','), '')
from (select '{"title":' || to_json("t0"."title")::text || '}' as "json"
from "public"."paintings_owned"("term" => $1::"pg_catalog"."text", "session" => $2::"pg_catalog"."json") "t0"
where "t0"."owner" = $3::"pg_catalog"."int4" and case when "t0"."owner" = $3::"pg_catalog"."int4" then "t0"."price" < $4::"pg_catalog"."numeric" end
order by "t0"."title") "t1";
-- $1 = variable term (text)
-- $2 = all session variables
-- $3 = session x-engine-user-id (int4)
-- $4 = "1000" (numeric)
