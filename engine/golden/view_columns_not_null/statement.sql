select coalesce(string_agg('{"id":' || coalesce("t0"."id"::text, 'null') || ',"title":' || coalesce(to_json("t0"."title")::text, 'null') || ',"main":' || coalesce(to_json("t0"."main")::text, 'null') || '}', ','), '')
from "public"."gallery" "t0";
