-- The schema coordinates that operations of clients use, such as author.name. Most requests of an operation use the same ones, so each
-- set is stored once. Its id is the digest of the coordinates.
create table pergola.coordinate_set (
  id text primary key,
  coordinates text[] not null
);

-- Requests by day (UTC), over all replicas. An operation without a name and a client that sends none have the empty text.
create table pergola.operation_usage (
  day date not null,
  role text not null,
  operation text not null,
  client text not null,
  coordinate_set text not null references pergola.coordinate_set,
  requests bigint not null,
  primary key (day, role, operation, client, coordinate_set)
);
create index operation_usage_coordinate_set on pergola.operation_usage (coordinate_set);

-- Requests that were not counted by operation, because a limit was reached.
create table pergola.uncounted_usage (
  day date not null,
  role text not null,
  requests bigint not null,
  primary key (day, role)
);
