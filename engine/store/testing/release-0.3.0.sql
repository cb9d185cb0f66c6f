-- A database of release 0.3.0 (metadata database at migration 6, event log), written by its engine: the tables, then the rows.
create table public.author (id int primary key, name text);
create table public.book (id int primary key, author_id int references public.author, title text);
create schema pergola;
create table pergola.migration (version integer primary key, name text not null, applied_at timestamptz not null default now());
create table pergola.metadata (
  is_only boolean primary key default true check (is_only),
  id uuid not null,
  resource_version bigint not null default 1,
  catalog_version bigint not null default 1,
  state_version bigint not null default 1,
  metadata json not null,
  cli_state json not null default '{}',
  console_state json not null default '{}',
  operator_state json not null default '{}'
);
create table pergola.revision (
  resource_version bigint primary key,
  written_at timestamptz not null default now(),
  author text not null,
  client text,
  operations text[] not null,
  metadata json not null
);
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
create table pergola.intent (
  id uuid primary key,
  resource_version bigint not null,
  draft json not null,
  transactions json not null
);
create table pergola.scheduled_event (
  id uuid primary key default gen_random_uuid(),
  type text not null check (type in ('cron', 'one_off', 'cleanup')),
  trigger_name text,
  schedule text,
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
create table pergola.whole (
  part text not null check (part in ('document', 'operator_state')),
  resource_version bigint not null,
  content json not null,
  bytes integer not null,
  primary key (part, resource_version)
);
create table pergola.change (
  resource_version bigint primary key,
  edits json,
  operator_patches json,
  bytes integer not null
);

alter table pergola.metadata drop column metadata, drop column operator_state;
alter table pergola.revision drop column metadata;
create table pergola.event_log (
  id uuid primary key default gen_random_uuid(),
  schema_name text not null,
  table_name text not null,
  trigger_name text not null,
  payload json not null,
  created_at timestamptz not null default now(),
  tries integer not null default 0,
  locked timestamptz,
  next_retry_at timestamptz,
  delivered boolean not null default false,
  error boolean not null default false,
  archived boolean not null default false
);
create index event_log_waiting on pergola.event_log (created_at) where not delivered and not error and not archived;
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
insert into pergola.scheduled_event select * from json_populate_recordset(null::pergola.scheduled_event, $rows$[
{"id":"a4ebdf2e-e995-43ee-8e89-d753cdca2589","type":"cron","trigger_name":"nightly","schedule":"0 3 1 1 *","definition":null,"scheduled_time":"2027-01-01T03:00:00+00:00","status":"scheduled","tries":0,"created_at":"2026-11-29T07:37:32.566776+00:00","next_retry_at":null,"lease_ends_at":null},
{"id":"cd9359b4-2966-45c3-9946-fcb475cf6ddf","type":"cron","trigger_name":"nightly","schedule":"0 3 1 1 *","definition":null,"scheduled_time":"2028-01-01T03:00:00+00:00","status":"scheduled","tries":0,"created_at":"2026-11-29T07:37:32.566776+00:00","next_retry_at":null,"lease_ends_at":null},
{"id":"6ec08c5c-3498-4f07-8003-34ea322adedd","type":"cron","trigger_name":"nightly","schedule":"0 3 1 1 *","definition":null,"scheduled_time":"2029-01-01T03:00:00+00:00","status":"scheduled","tries":0,"created_at":"2026-11-29T07:37:32.566776+00:00","next_retry_at":null,"lease_ends_at":null},
{"id":"9dd31251-2d15-4a0b-8274-7998f7008c37","type":"one_off","trigger_name":null,"schedule":null,"definition":{"webhook":"http://127.0.0.1:9/once","payload":{"a":1},"retry_conf":{"num_retries":0,"retry_interval_seconds":10,"timeout_seconds":60,"tolerance_seconds":21600}},"scheduled_time":"2099-01-01T00:00:00+00:00","status":"scheduled","tries":0,"created_at":"2026-11-29T07:37:32.586823+00:00","next_retry_at":null,"lease_ends_at":null}
]$rows$);
insert into pergola.action_call select * from json_populate_recordset(null::pergola.action_call, $rows$[
{"id":"82f18d07-aced-4b6f-83a0-035f6719820c","action":"send","session_variables":{"x-engine-role": "admin"},"message":{"body":{"action":{"name":"send"},"input":{},"session_variables":{"x-engine-role":"admin"},"request_query":"mutation { send }"},"sessionVariables":{"x-engine-role":"admin"}},"client_headers":{},"created_at":"2026-11-29T07:37:32.653544+00:00","status":"failed","lease_ends_at":null,"response":null,"errors":{"path":"$","error":"http exception when calling webhook","code":"unexpected"}}
]$rows$);
insert into pergola.change select * from json_populate_recordset(null::pergola.change, $rows$[
{"resource_version":2,"edits":null,"operator_patches":[],"bytes":2},
{"resource_version":3,"edits":null,"operator_patches":[],"bytes":2},
{"resource_version":4,"edits":[{"key":"table/default/public/book","definition":{"table":{"schema":"public","name":"book"}}}],"operator_patches":[],"bytes":96},
{"resource_version":5,"edits":null,"operator_patches":[],"bytes":2},
{"resource_version":6,"edits":[{"key":"select_permission/default/public/author/reader","definition":{"role":"reader","permission":{"columns":["id","name"],"filter":{"id":{"_eq":"X-Engine-User-Id"}}}}}],"operator_patches":[],"bytes":173},
{"resource_version":7,"edits":[{"key":"event_trigger/default/public/book/book_added","definition":{"name":"book_added","definition":{"insert":{"columns":"*"}},"webhook":"http://127.0.0.1:9/added"}}],"operator_patches":[],"bytes":170},
{"resource_version":8,"edits":[{"key":"cron_trigger/nightly","definition":{"name":"nightly","webhook":"http://127.0.0.1:9/nightly","schedule":"0 3 1 1 *","include_in_metadata":true,"payload":{}}}],"operator_patches":[],"bytes":168},
{"resource_version":9,"edits":[{"key":"custom_type/Sent","definition":{"category":"objects","definition":{"name":"Sent","fields":[{"name":"id","type":"Int!"}]}}}],"operator_patches":[],"bytes":134},
{"resource_version":10,"edits":[{"key":"action/send","definition":{"name":"send","definition":{"kind":"asynchronous","handler":"http://127.0.0.1:9/send","output_type":"Sent"}}}],"operator_patches":[],"bytes":148},
{"resource_version":11,"edits":[{"key":"query_collection/allowed","definition":{"name":"allowed","definition":{"queries":[{"name":"q","query":"query q { author { id } }"}]}}}],"operator_patches":[],"bytes":146},
{"resource_version":12,"edits":[{"key":"allowlist/allowed","definition":{"collection":"allowed"}}],"operator_patches":[],"bytes":69},
{"resource_version":13,"edits":[{"key":"rest_endpoint/authors","definition":{"name":"authors","url":"authors","methods":["GET"],"definition":{"query":{"collection_name":"allowed","query_name":"q"}}}}],"operator_patches":[],"bytes":171},
{"resource_version":14,"edits":[{"key":"inherited_role/both","definition":{"role_name":"both","role_set":["reader"]}}],"operator_patches":[],"bytes":89}
]$rows$);
insert into pergola.event_invocation_log select * from json_populate_recordset(null::pergola.event_invocation_log, $rows$[
{"id":"4655f562-469d-4420-aaa7-8440eb578dd0","trigger_name":"book_added","event_id":"f131fa62-3046-403a-aeb2-42e929ca0a4d","status":null,"request":{"payload":{"id":"f131fa62-3046-403a-aeb2-42e929ca0a4d","created_at":"2026-11-29T07:37:32.68075Z","table":{"schema":"public","name":"book"},"trigger":{"name":"book_added"},"event":{"op":"INSERT","data":{"old":null,"new":{"id":1,"author_id":1,"title":"b"}},"session_variables":{"x-engine-role":"admin"},"trace_context":null},"delivery_info":{"current_retry":0,"max_retries":0}},"headers":[],"version":"2"},"response":{"type":"client_error","data":{"message":"ECONNREFUSED"},"version":"2"},"created_at":"2026-11-29T07:37:33.337596+00:00"}
]$rows$);
insert into pergola.event_log select * from json_populate_recordset(null::pergola.event_log, $rows$[
{"id":"f131fa62-3046-403a-aeb2-42e929ca0a4d","schema_name":"public","table_name":"book","trigger_name":"book_added","payload":{"op" : "INSERT", "data" : {"old" : null, "new" : {"id":1,"author_id":1,"title":"b"}}, "session_variables" : {"x-engine-role":"admin"}, "trace_context" : null},"created_at":"2026-11-29T07:37:32.68075+00:00","tries":1,"locked":null,"next_retry_at":null,"delivered":false,"error":true,"archived":false}
]$rows$);
insert into pergola.intent select * from json_populate_recordset(null::pergola.intent, $rows$[
{"id":"00000000-0000-4000-8000-000000000001","resource_version":1,"draft":{"touchResource": true},"transactions":[]}
]$rows$);
insert into pergola.metadata select * from json_populate_recordset(null::pergola.metadata, $rows$[
{"is_only":true,"id":"fd4286e1-689f-4a8f-aea5-686c755fad9d","resource_version":14,"catalog_version":1,"state_version":3,"cli_state":{"settings":{}},"console_state":{"open":true}}
]$rows$);
insert into pergola.migration select * from json_populate_recordset(null::pergola.migration, $rows$[
{"version":1,"name":"metadata","applied_at":"2026-11-29T07:37:32.235215+00:00"},
{"version":2,"name":"revision","applied_at":"2026-11-29T07:37:32.235215+00:00"},
{"version":3,"name":"action-call","applied_at":"2026-11-29T07:37:32.235215+00:00"},
{"version":4,"name":"intent","applied_at":"2026-11-29T07:37:32.235215+00:00"},
{"version":5,"name":"scheduled-event","applied_at":"2026-11-29T07:37:32.235215+00:00"},
{"version":6,"name":"change","applied_at":"2026-11-29T07:37:32.235215+00:00"}
]$rows$);
insert into pergola.revision select * from json_populate_recordset(null::pergola.revision, $rows$[
{"resource_version":1,"written_at":"2026-11-29T07:37:32.235215+00:00","author":"engine","client":null,"operations":[]},
{"resource_version":2,"written_at":"2026-11-29T07:37:32.274851+00:00","author":"engine","client":null,"operations":[]},
{"resource_version":3,"written_at":"2026-11-29T07:37:32.490043+00:00","author":"admin","client":"node","operations":["track_table"]},
{"resource_version":4,"written_at":"2026-11-29T07:37:32.517087+00:00","author":"admin","client":"node","operations":["track_table"]},
{"resource_version":5,"written_at":"2026-11-29T07:37:32.528734+00:00","author":"admin","client":"node","operations":["create_array_relationship"]},
{"resource_version":6,"written_at":"2026-11-29T07:37:32.537436+00:00","author":"admin","client":"node","operations":["create_select_permission"]},
{"resource_version":7,"written_at":"2026-11-29T07:37:32.544183+00:00","author":"admin","client":"node","operations":["create_event_trigger"]},
{"resource_version":8,"written_at":"2026-11-29T07:37:32.563683+00:00","author":"admin","client":"node","operations":["create_cron_trigger"]},
{"resource_version":9,"written_at":"2026-11-29T07:37:32.593436+00:00","author":"admin","client":"node","operations":["set_custom_types"]},
{"resource_version":10,"written_at":"2026-11-29T07:37:32.60164+00:00","author":"admin","client":"node","operations":["create_action"]},
{"resource_version":11,"written_at":"2026-11-29T07:37:32.617888+00:00","author":"admin","client":"node","operations":["create_query_collection"]},
{"resource_version":12,"written_at":"2026-11-29T07:37:32.625563+00:00","author":"admin","client":"node","operations":["add_collection_to_allowlist"]},
{"resource_version":13,"written_at":"2026-11-29T07:37:32.632647+00:00","author":"admin","client":"node","operations":["create_rest_endpoint"]},
{"resource_version":14,"written_at":"2026-11-29T07:37:32.639342+00:00","author":"admin","client":"node","operations":["add_inherited_role"]}
]$rows$);
insert into pergola.whole select * from json_populate_recordset(null::pergola.whole, $rows$[
{"part":"document","resource_version":1,"content":{"version":3,"sources":[]},"bytes":26},
{"part":"operator_state","resource_version":1,"content":{},"bytes":2},
{"part":"document","resource_version":2,"content":{"version":3,"sources":[{"name":"default","kind":"postgres","configuration":{"connection_info":{"database_url":{"from_env":"ENGINE_GRAPHQL_DATABASE_URL"}}},"tables":[]}]},"bytes":170},
{"part":"document","resource_version":3,"content":{"version":3,"sources":[{"name":"default","kind":"postgres","configuration":{"connection_info":{"database_url":{"from_env":"ENGINE_GRAPHQL_DATABASE_URL"}}},"tables":[{"table":{"schema":"public","name":"author"}}]}]},"bytes":215},
{"part":"document","resource_version":5,"content":{"version":3,"sources":[{"name":"default","kind":"postgres","configuration":{"connection_info":{"database_url":{"from_env":"ENGINE_GRAPHQL_DATABASE_URL"}}},"tables":[{"table":{"schema":"public","name":"author"},"array_relationships":[{"name":"books","using":{"foreign_key_constraint_on":{"table":{"schema":"public","name":"book"},"columns":["author_id"]}}}]},{"table":{"schema":"public","name":"book"}}]}]},"bytes":406}
]$rows$);
CREATE OR REPLACE FUNCTION pergola."book_added_INSERT"()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into pergola.event_log (trigger_name, schema_name, table_name, payload)
  values (E'book_added', E'public', E'book', json_build_object(
    'op', tg_op,
    'data', json_build_object('old', null, 'new', row_to_json(new)),
    'session_variables', nullif(current_setting('engine.user', true), '')::json,
    'trace_context', nullif(current_setting('engine.trace', true), '')::json));
  return null;
end $function$;
CREATE TRIGGER "pergola_book_added_INSERT" AFTER INSERT ON public.book FOR EACH ROW EXECUTE FUNCTION pergola."book_added_INSERT"();
