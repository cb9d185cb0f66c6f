select coalesce(string_agg('{}'::text, ','), '')
from "public"."author" "t0";
