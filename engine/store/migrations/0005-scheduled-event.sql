-- Scheduled work, one row for each time: events of cron triggers, one-off events, and cleanups of event triggers. An engine that
-- claims a row has it exclusively until the lease ends. An expired lease belongs to an engine that no longer runs.
create table pergola.scheduled_event (
  id uuid primary key default gen_random_uuid(),
  type text not null check (type in ('cron', 'one_off', 'cleanup')),
  -- The name of the cron trigger or event trigger, and the schedule that this time belongs to.
  trigger_name text,
  schedule text,
  -- The webhook, payload and options of an event without a trigger.
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
