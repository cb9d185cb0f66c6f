select coalesce(string_agg('{"id":' || "t0"."id"::text || '}', ','), '')
from "public"."book" "t0";
