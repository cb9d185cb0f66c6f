-- The oldest migration whose engines can use the database after this one; the migration itself where it is null. An engine accepts a newer
-- database whose marks are all at most its own newest migration (ADR 30).
alter table pergola.migration add column readable_from integer;
