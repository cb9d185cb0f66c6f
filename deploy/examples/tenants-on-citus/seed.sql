-- A platform for advertisements: each company is a tenant. Run this once on the coordinator, in a database with the extension citus.
-- On any other Postgres, such as that of `pergola test`, it creates the same tables without distributing them.

create table plan (id integer primary key, name text not null);

create table company (
  id bigint primary key,
  name text not null,
  plan_id integer not null
);

create table campaign (
  company_id bigint not null,
  id bigint not null,
  name text not null,
  state text not null default 'running',
  primary key (company_id, id)
);

create table click (
  company_id bigint not null,
  id bigint not null,
  campaign_id bigint not null,
  price numeric(10, 4) not null,
  primary key (company_id, id)
);

-- All tables of a tenant are distributed by the company, so that the rows of a company are on one shard.
do $$
begin
  if exists (select from pg_extension where extname = 'citus') then
    perform create_reference_table('plan');
    perform create_distributed_table('company', 'id');
    perform create_distributed_table('campaign', 'company_id', colocate_with => 'company');
    perform create_distributed_table('click', 'company_id', colocate_with => 'company');
  end if;
end $$;

-- Citus accepts foreign keys between tables that are distributed already.
alter table company add foreign key (plan_id) references plan (id);
alter table campaign add foreign key (company_id) references company (id);
alter table click add foreign key (company_id, campaign_id) references campaign (company_id, id);

insert into plan values (1, 'free'), (2, 'paid');
insert into company values (1, 'Acorn', 1), (2, 'Birch', 2);
insert into campaign values (1, 1, 'Spring', 'running'), (1, 2, 'Summer', 'paused'), (2, 1, 'Autumn', 'running');
insert into click values (1, 1, 1, 0.5), (1, 2, 1, 0.25), (2, 1, 1, 2);
