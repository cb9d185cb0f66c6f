select coalesce(string_agg("t1"."json", ','), '')
from (select '{"TrackId":' || "t0"."TrackId"::text || ',"Name":' || to_json("t0"."Name")::text || ',"Composer":' || coalesce(to_json("t0"."Composer")::text, 'null') || ',"Milliseconds":' || "t0"."Milliseconds"::text || ',"Bytes":' || coalesce("t0"."Bytes"::text, 'null') || ',"UnitPrice":' || case when scale("t0"."UnitPrice") is not null then "t0"."UnitPrice"::text else to_json("t0"."UnitPrice")::text end || '}' as "json"
from "public"."Track" "t0"
order by "t0"."TrackId") "t1"
