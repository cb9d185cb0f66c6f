-- Scheduled events and calls of actions under the names of the reference engine. Rows can be deleted. One-off events can be inserted.
create or replace view hdb_catalog.hdb_cron_events as
  select id::text as id, trigger_name, scheduled_time, status, tries, created_at, next_retry_at
    from pergola.scheduled_event where type = 'cron';

create or replace view hdb_catalog.hdb_cron_event_invocation_logs as
  select id::text as id, event_id::text as event_id, status, request, response, created_at
    from pergola.scheduled_event_invocation
   where event_id in (select id from pergola.scheduled_event where type = 'cron');

create or replace view hdb_catalog.hdb_scheduled_events as
  select id::text as id, definition -> 'webhook' as webhook_conf, scheduled_time, definition -> 'retry_conf' as retry_conf,
         definition -> 'payload' as payload, definition -> 'headers' as header_conf, status, tries, created_at, next_retry_at,
         definition ->> 'comment' as comment
    from pergola.scheduled_event where type = 'one_off';

create or replace view hdb_catalog.hdb_scheduled_event_invocation_logs as
  select id::text as id, event_id::text as event_id, status, request, response, created_at
    from pergola.scheduled_event_invocation
   where event_id in (select id from pergola.scheduled_event where type = 'one_off');

create or replace view hdb_catalog.hdb_action_log as
  select id, action as action_name, (message -> 'input')::jsonb as input_payload, client_headers::jsonb as request_headers,
         session_variables, response::jsonb as response_payload, errors::jsonb as errors, created_at,
         case status when 'waiting' then 'created' when 'running' then 'processing' when 'answered' then 'completed' else 'error' end
           as status
    from pergola.action_call;

create or replace function hdb_catalog.insert_scheduled_event() returns trigger language plpgsql as $$
declare
  event_id uuid := coalesce(new.id::uuid, gen_random_uuid());
begin
  if new.webhook_conf is null or new.scheduled_time is null
     or json_typeof(new.webhook_conf) not in ('string', 'object')
     or json_typeof(coalesce(new.header_conf, '[]')) not in ('array', 'null')
     or json_typeof(coalesce(new.retry_conf, '{}')) not in ('object', 'null') then
    raise exception 'webhook_conf is a URL or {"from_env": NAME}, scheduled_time a time, header_conf a list, retry_conf an object'
      using errcode = '22023';
  end if;
  insert into pergola.scheduled_event (id, type, definition, scheduled_time)
  values (event_id, 'one_off', (jsonb_strip_nulls(jsonb_build_object(
    'webhook', new.webhook_conf,
    'headers', new.header_conf,
    'retry_conf', new.retry_conf,
    'comment', new.comment))
    || case when new.payload is null then '{}' else jsonb_build_object('payload', new.payload) end)::json, new.scheduled_time);
  new.id := event_id::text;
  return new;
end $$;

drop trigger if exists insert_scheduled_event on hdb_catalog.hdb_scheduled_events;
create trigger insert_scheduled_event instead of insert on hdb_catalog.hdb_scheduled_events
  for each row execute function hdb_catalog.insert_scheduled_event();
