insert into "public"."painter" as "t0" ("name", "email") values ($1::"pg_catalog"."text", $2::"pg_catalog"."text") on conflict (lower(email))
where is_active do update set "name" = "excluded"."name"
returning '{"id":' || "t0"."id"::text || ',"name":' || to_json("t0"."name")::text || '}';
-- $1 = "Artemisia G." (text)
-- $2 = "A@example.org" (text)
