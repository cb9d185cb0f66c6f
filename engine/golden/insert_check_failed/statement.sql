insert into "public"."painting" as "t0" ("painter_id", "title", "price", "owner") values ($1::"pg_catalog"."int4", $2::"pg_catalog"."text", $3::"pg_catalog"."numeric", $4::"pg_catalog"."int4")
returning '{"id":' || "t0"."id"::text || '}', case when (("t0"."price" > $3::"pg_catalog"."numeric") is true) is not false then 0 else (current_user || ': the check of a permission has failed')::int end;
-- $1 = "2" (int4)
-- $2 = "Gift" (text)
-- $3 = "0" (numeric)
-- $4 = session x-engine-user-id (int4)
