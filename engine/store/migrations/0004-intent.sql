-- What is going to be written to the document once other databases have committed. A row that outlives its writer says what to
-- ask those databases: whether they have.
create table pergola.intent (
  id uuid primary key,
  resource_version bigint not null,
  draft json not null,
  transactions json not null
)
