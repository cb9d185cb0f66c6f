-- The document and the operator's state as they were last written whole, at some versions, and what has changed since: a small
-- change of a large document writes little. An engine that knows nothing of it must not read or write what is stale, so what it
-- reads and writes is gone from pergola.metadata.
create table pergola.whole (
  part text not null check (part in ('document', 'operator_state')),
  resource_version bigint not null,
  content json not null,
  bytes integer not null,
  primary key (part, resource_version)
);
insert into pergola.whole
select 'document', resource_version, metadata, octet_length(metadata::text) from pergola.metadata
union all
select 'operator_state', resource_version, operator_state, octet_length(operator_state::text) from pergola.metadata;
insert into pergola.whole
select 'document', resource_version, metadata, octet_length(metadata::text) from pergola.revision
on conflict do nothing;

-- One row for each version. Absent edits or patches: that part was written whole.
create table pergola.change (
  resource_version bigint primary key,
  edits json,
  operator_patches json,
  bytes integer not null
);

alter table pergola.metadata drop column metadata, drop column operator_state;
alter table pergola.revision drop column metadata;
