-- Full copies of the document and of the operator's state at some versions, and the changes since then, so that a small change of a
-- large document writes little. An older engine must not read or write stale data, so the columns that it uses are dropped from
-- pergola.metadata.
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

-- One row for each version. Edits or patches are null if that part was written as a full copy.
create table pergola.change (
  resource_version bigint primary key,
  edits json,
  operator_patches json,
  bytes integer not null
);

alter table pergola.metadata drop column metadata, drop column operator_state;
alter table pergola.revision drop column metadata;
