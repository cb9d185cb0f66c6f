select coalesce(string_agg('{"key":' || "t0"."id"::text || ',"__typename":"author","name":' || to_json("t0"."name")::text || ',"born":' || coalesce(to_json("t0"."born")::text, 'null') || ',"sameName":' || to_json("t0"."name")::text || '}', ','), '')
from "public"."author" "t0";
