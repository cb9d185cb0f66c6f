select coalesce(string_agg("t5"."json", ','), '')
from (select '{"TrackId":' || "t0"."TrackId"::text || ',"Name":' || to_json("t0"."Name")::text || ',"Composer":' || coalesce(to_json("t0"."Composer")::text, 'null') || case when "t1"."AlbumId" is null then ',"Album":null' else ',"Album":{"Title":' || to_json("t1"."Title")::text || case when "t2"."ArtistId" is null then ',"Artist":null}' else ',"Artist":{"Name":' || coalesce(to_json("t2"."Name")::text, 'null') || '}}' end end || case when "t3"."GenreId" is null then ',"Genre":null' else ',"Genre":{"Name":' || coalesce(to_json("t3"."Name")::text, 'null') || '}' end || case when "t4"."MediaTypeId" is null then ',"MediaType":null}' else ',"MediaType":{"Name":' || coalesce(to_json("t4"."Name")::text, 'null') || '}}' end as "json"
from (select "t0".*
from "public"."Track" "t0"
where ("t0"."Name" ilike $1::"pg_catalog"."varchar" or "t0"."Composer" ilike $1::"pg_catalog"."varchar")
order by "t0"."Name", "t0"."TrackId"
limit 20) "t0"
left join "public"."Album" "t1" on "t1"."AlbumId" = "t0"."AlbumId"
left join "public"."Artist" "t2" on "t2"."ArtistId" = "t1"."ArtistId"
left join "public"."Genre" "t3" on "t3"."GenreId" = "t0"."GenreId"
left join "public"."MediaType" "t4" on "t4"."MediaTypeId" = "t0"."MediaTypeId"
order by "t0"."Name", "t0"."TrackId") "t5"
