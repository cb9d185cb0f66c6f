-- What is done at a time, each time a row: events of cron triggers, events that happen once, and cleaning up after event
-- triggers. Whoever takes one has it alone until its lease ends; a lease that has ended is that of an engine that is gone.
create table pergola.scheduled_event (
  id uuid primary key default gen_random_uuid(),
  type text not null check (type in ('cron', 'one_off', 'cleanup')),
  -- Of the cron trigger, or of the event trigger; and the schedule that this is a time of.
  trigger_name text,
  schedule text,
  -- Whom and what to tell, where no trigger says so.
  definition json,
  scheduled_time timestamptz not null,
  status text not null default 'scheduled' check (status in ('scheduled', 'locked', 'delivered', 'error', 'dead')),
  tries integer not null default 0,
  created_at timestamptz not null default now(),
  next_retry_at timestamptz,
  lease_ends_at timestamptz,
  unique (type, trigger_name, scheduled_time),
  check (case type when 'one_off' then definition is not null else trigger_name is not null end)
);
create index scheduled_event_waiting on pergola.scheduled_event (scheduled_time) where status in ('scheduled', 'locked');

create table pergola.scheduled_event_invocation (
  id uuid primary key default gen_random_uuid(),
  event_id uuid not null references pergola.scheduled_event on delete cascade,
  status integer,
  request json not null,
  response json not null,
  created_at timestamptz not null default now()
);
create index scheduled_event_invocation_event_id on pergola.scheduled_event_invocation (event_id);
