-- Events of rows and their deliveries to webhooks, in the database of the rows. An event is written in the same transaction as its
-- row.
create table pergola.event_log (
  id uuid primary key default gen_random_uuid(),
  schema_name text not null,
  table_name text not null,
  trigger_name text not null,
  payload json not null,
  created_at timestamptz not null default now(),
  tries integer not null default 0,
  -- The time when an engine claimed the event. An expired lease belongs to an engine that no longer runs.
  locked timestamptz,
  next_retry_at timestamptz,
  delivered boolean not null default false,
  error boolean not null default false,
  -- True if the trigger has been deleted.
  archived boolean not null default false
);
create index event_log_due on pergola.event_log (trigger_name, created_at) where not delivered and not error and not archived;
create index event_log_trigger_name on pergola.event_log (trigger_name, created_at);

create table pergola.event_invocation_log (
  id uuid primary key default gen_random_uuid(),
  trigger_name text not null,
  event_id uuid not null,
  status integer,
  request json not null,
  response json not null,
  created_at timestamptz not null default now()
);
create index event_invocation_log_event_id on pergola.event_invocation_log (event_id);
create index event_invocation_log_trigger_name on pergola.event_invocation_log (trigger_name, created_at);
