-- Named values: secrets that metadata refers to by name. `sealed` is the value encrypted with AES-256-GCM under a key that only the
-- engine has; `key_id` names that key. `version` changes when the value does, and no two values of one database ever have the same.
create table pergola.value (
  name text primary key,
  version bigint not null,
  key_id text not null,
  sealed bytea not null,
  set_at timestamptz not null default now()
);
alter table pergola.metadata add column values_version bigint not null default 1;
