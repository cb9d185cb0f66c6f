select coalesce(string_agg('{"Name":' || coalesce(to_json("t0"."Name")::text, 'null') || ',"Albums":[' || coalesce((select string_agg("t4"."json", ',')
from (select '{"Title":' || to_json("t1"."Title")::text || ',"Tracks":[' || coalesce((select string_agg("t3"."json", ',')
from (select '{"Name":' || to_json("t2"."Name")::text || ',"Milliseconds":' || "t2"."Milliseconds"::text || '}' as "json"
from "public"."Track" "t2"
where "t2"."AlbumId" = "t1"."AlbumId"
order by "t2"."TrackId") "t3"), '') || ']}' as "json"
from "public"."Album" "t1"
where "t1"."ArtistId" = "t0"."ArtistId"
order by "t1"."AlbumId") "t4"), '') || ']}', ','), '')
from (select "t0".*
from "public"."Artist" "t0"
order by "t0"."ArtistId"
limit 20) "t0"
