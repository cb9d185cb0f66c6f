-- The tables and functions that the resources in this folder describe: authors, their articles, and comments.
-- `pergola up` runs this once, before the engine introspects the database.

create table author (
  id integer primary key,
  name text not null,
  country text
);

create table article (
  id integer primary key,
  author_id integer not null references author (id),
  title text not null,
  body text not null default '',
  is_published boolean not null default false
);

create table comment (
  id integer primary key generated always as identity,
  article_id integer not null references article (id),
  said_by text not null,
  text text not null
);

create function search_articles(search text) returns setof article
  language sql stable
  as $$ select * from article where title ilike '%' || search || '%' $$;

create function article_excerpt(article_row article) returns text
  language sql stable
  as $$ select left(article_row.body, 80) $$;

insert into author values (1, 'Ursula', 'US'), (2, 'Stanisław', 'PL');
insert into article values
  (1, 1, 'On maps', 'Every map is a story.', true),
  (2, 1, 'On rivers', 'Not finished yet.', false),
  (3, 2, 'On robots', 'They never are.', true);
insert into comment (article_id, said_by, text) values (1, 'ann', 'Yes.'), (3, 'bob', 'Hm.');
