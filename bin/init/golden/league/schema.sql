create table country (code text primary key, name text not null);

create table team (
  id int generated always as identity primary key,
  name text not null unique,
  country_code text not null references country (code)
);
comment on table team is 'A club.
It plays in one country.';
comment on column team.name is 'As on the shirt.';

create table team_badge (team_id int primary key references team, colours text[] not null, motto text);

create table account (id int primary key, email text not null, password_hash text not null, api_key text);

create table match_status (value text primary key, comment text);
insert into match_status values ('planned', 'Not played yet.'), ('played', null);
create table card_colour (value text primary key);

create table person (id int primary key, name text not null, mentor_id int references person);

create table match (
  id int primary key,
  home_team_id int not null references team,
  away_team_id int not null references team,
  referee int references person,
  status text not null default 'planned' references match_status,
  created_by int not null references account,
  updated_by int references account,
  played_on date
);
create table card (
  match_id int not null references match,
  person_id int not null references person,
  colour text not null references card_colour,
  primary key (match_id, person_id)
);

create table team_person (
  team_id int not null references team,
  person_id int not null references person,
  primary key (team_id, person_id)
);

create table category (id int primary key, parent_id int references category, name text not null);

-- Two columns of one tenant, and a key of two columns.
create table tenant (id int primary key, owner text, owner_id int references person);
create table address (tenant_id int references tenant, id int, primary key (tenant_id, id));
create table shipment (
  id int primary key,
  tenant_id int not null references tenant,
  billing_address_id int not null,
  shipping_address_id int not null,
  foreign key (tenant_id, billing_address_id) references address,
  foreign key (tenant_id, shipping_address_id) references address
);

-- Names that GraphQL cannot spell, names of another style, and a name that another table has taken.
create table "season tickets" (id int primary key, "2nd choice" int references team, "prix (€)" int, "prix" int);
create table "SeatRow" ("seatRowId" int primary key, "standName" text, "keptFor" int references team (id));
create schema sales;
create table sales."order" (id int primary key, team_id int references team);
create table sales_order (id int primary key);
create table team_aggregate (id int primary key, team_id int references team);
create table "Int" (id int primary key);

create table event (id int, at date) partition by range (at);
create table event_2026 partition of event for values from ('2026-01-01') to ('2027-01-01');
create table schema_migrations (version text primary key);

create view standing as select id as team_id, 0 as points from team;
comment on view standing is 'The table of the league.';
create materialized view scorer as select id, name from person;

create function search_teams(term text) returns setof team language sql stable as
  $$ select * from team where name ilike '%' || term || '%' $$;
comment on function search_teams is 'Teams whose name contains the term.';
create function rename_team(team_id int, name text) returns team language sql as
  $$ update team t set name = rename_team.name where t.id = team_id returning t $$;
create function team_label(team team) returns text language sql stable as $$ select team.name || '!' $$;
create function matches_of(team team) returns setof match language sql stable as
  $$ select * from match where team.id in (home_team_id, away_team_id) $$;
create function top(amount int) returns setof team language sql stable as $$ select * from team limit amount $$;
create function top(amount int, country text) returns setof team language sql stable as
  $$ select * from team where country_code = country limit amount $$;
create function days_left() returns int language sql stable as $$ select 1 $$;
