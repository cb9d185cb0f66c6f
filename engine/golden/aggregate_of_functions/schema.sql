-- Singers and their songs, found by a function; keys and ratios that Postgres has no max of, or JSON no number for.
create table singer (id integer primary key, name text not null);
create table song (
  id integer primary key,
  singer_id integer not null references singer,
  title text not null,
  key uuid not null,
  ratio float8
);
create function search_songs(search text) returns setof song language sql stable
  as $$ select * from song where title ilike '%' || search || '%' $$;
create function hits(singer singer, at_least integer default 0) returns setof song language sql stable
  as $$ select * from song where singer_id = singer.id and length(title) > 3 + at_least $$;

insert into singer values (1, 'Ann'), (2, 'Ben'), (3, 'Cat');
insert into song values
  (1, 1, 'Rain', '00000000-0000-4000-8000-00000000000a', 1.5),
  (2, 1, 'Sun', 'ffffffff-0000-4000-8000-000000000000', 'NaN'),
  (3, 2, 'Rainbow', '00000000-0000-4000-8000-000000000001', null),
  (4, 2, 'Train', '10000000-0000-4000-8000-000000000000', 2.5);
