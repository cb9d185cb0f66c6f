-- The stored document at each of its latest versions. The engine limits their number (--metadata-revisions).
create table pergola.revision (
  resource_version bigint primary key,
  written_at timestamptz not null default now(),
  author text not null,
  client text,
  operations text[] not null,
  metadata json not null
);
insert into pergola.revision (resource_version, author, operations, metadata)
select resource_version, 'engine', '{}', metadata from pergola.metadata;
