-- A second run proposes these and nothing else.
create table stadium (id int primary key, name text not null, team_id int references team);
alter table match add column stadium_id int references stadium;
create function stadium_title(stadium stadium) returns text language sql stable as $$ select stadium.name $$;
create function person_initial(person person) returns text language sql stable as $$ select left(person.name, 1) $$;
drop table category;
