-- One row for the whole installation. `json` and not `jsonb`, to keep the order of keys and the spelling of numbers.
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
)
