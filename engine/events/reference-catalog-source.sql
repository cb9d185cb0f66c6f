-- The event log under the names of the reference engine. Rows can be deleted, and columns that are not converted can be updated.
create or replace view hdb_catalog.event_log as
  select id::text as id, schema_name, table_name, trigger_name, payload::jsonb as payload, delivered, error, tries,
         created_at at time zone 'utc' as created_at, locked, next_retry_at, archived
    from pergola.event_log;

create or replace view hdb_catalog.event_invocation_logs as
  select id::text as id, trigger_name, event_id::text as event_id, status, request, response,
         created_at at time zone 'utc' as created_at
    from pergola.event_invocation_log;
