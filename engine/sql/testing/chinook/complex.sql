select coalesce(string_agg("t11"."json", ','), '')
from (select '{"Name":' || coalesce(to_json("t0"."Name")::text, 'null') || ',"tracks_of_genre":[' || coalesce((select string_agg(case when "t7"."TrackId" is null then '{"Track":null}' else '{"Track":{"Name":' || to_json("t7"."Name")::text || case when "t8"."AlbumId" is null then ',"Album":null' else ',"Album":{"Title":' || to_json("t8"."Title")::text || case when "t9"."ArtistId" is null then ',"Artist":null}' else ',"Artist":{"Name":' || coalesce(to_json("t9"."Name")::text, 'null') || '}}' end end || case when "t10"."MediaTypeId" is null then ',"MediaType":null}}' else ',"MediaType":{"Name":' || coalesce(to_json("t10"."Name")::text, 'null') || '}}}' end end, ',')
from (select "t4".*
from "public"."PlaylistTrack" "t4"
where "t4"."PlaylistId" = "t0"."PlaylistId" and exists (select 1
from "public"."Track" "t5" join "public"."Genre" "t6" on "t6"."GenreId" = "t5"."GenreId"
where "t5"."TrackId" = "t4"."TrackId" and "t6"."Name" = $1::"pg_catalog"."varchar")
limit 1000) "t4"
left join "public"."Track" "t7" on "t7"."TrackId" = "t4"."TrackId"
left join "public"."Album" "t8" on "t8"."AlbumId" = "t7"."AlbumId"
left join "public"."Artist" "t9" on "t9"."ArtistId" = "t8"."ArtistId"
left join "public"."MediaType" "t10" on "t10"."MediaTypeId" = "t7"."MediaTypeId"), '') || ']}' as "json"
from "public"."Playlist" "t0"
where exists (select 1
from "public"."PlaylistTrack" "t1" join "public"."Track" "t2" on "t2"."TrackId" = "t1"."TrackId" join "public"."Genre" "t3" on "t3"."GenreId" = "t2"."GenreId"
where "t1"."PlaylistId" = "t0"."PlaylistId" and "t3"."Name" = $1::"pg_catalog"."varchar")
order by "t0"."Name") "t11"
