select '{"aggregate":{"count":' || count(*)::text || '}}'
from "public"."review" "t0";
