-- The document as it was stored at each of its last versions; the engine bounds how many (--metadata-revisions).
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
