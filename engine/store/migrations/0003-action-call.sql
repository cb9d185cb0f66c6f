-- Calls of asynchronous actions. The engine sends each to its webhook once and keeps the response for the caller. A lease that has
-- expired without a response belongs to an engine that no longer runs.
create table pergola.action_call (
  id uuid primary key default gen_random_uuid(),
  action text not null,
  session_variables jsonb not null,
  message json not null,
  client_headers json not null,
  created_at timestamptz not null default now(),
  status text not null default 'waiting' check (status in ('waiting', 'running', 'answered', 'failed')),
  lease_ends_at timestamptz,
  response json,
  errors json
);
create index action_call_waiting on pergola.action_call (created_at) where status in ('waiting', 'running');
