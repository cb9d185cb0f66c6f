-- Writes to the document that happen once other databases have committed. If the writer has crashed, its row lists the transactions
-- whose outcome the engine looks up in those databases.
create table pergola.intent (
  id uuid primary key,
  resource_version bigint not null,
  draft json not null,
  transactions json not null
)
