select '{"ArtistId":' || "t0"."ArtistId"::text || ',"Name":' || coalesce(to_json("t0"."Name")::text, 'null') || '}'
from "public"."Artist" "t0"
where "t0"."ArtistId" = $1::"pg_catalog"."int4"
