create table document (
  id int generated always as identity primary key,
  account_id int not null,
  title text not null,
  archived boolean not null default false
);
