create table color (value text primary key, comment text);
insert into color values ('red', 'warm'), ('blue', null);
create table painting (id int primary key, main text not null references color, second text references color);
insert into painting values (1, 'red', 'blue'), (2, 'blue', null);
