-- The library's data. `pergola up` runs this once, before the engine introspects the database.

create table author (
  id integer primary key generated always as identity,
  name text not null,
  born integer,
  country text not null
);

create table book (
  id integer primary key generated always as identity,
  author_id integer not null references author (id),
  title text not null,
  published integer not null,
  shelf text not null,
  price_paid numeric(8, 2) not null,
  is_withdrawn boolean not null default false
);
create index on book (author_id);

create table member (
  id integer primary key generated always as identity,
  name text not null,
  email text not null unique,
  joined_on date not null
);

create table loan (
  id integer primary key generated always as identity,
  book_id integer not null references book (id),
  member_id integer not null references member (id),
  lent_on date not null default current_date,
  due_on date not null default current_date + 28,
  returned_on date,
  note text,
  check (returned_on is null or returned_on >= lent_on)
);
create index on loan (book_id);
create index on loan (member_id);

insert into author (name, born, country) values
  ('Ursula K. Le Guin', 1929, 'United States'),
  ('Stanisław Lem', 1921, 'Poland'),
  ('Octavia E. Butler', 1947, 'United States'),
  ('Italo Calvino', 1923, 'Italy'),
  ('Tove Jansson', 1914, 'Finland'),
  ('Jorge Luis Borges', 1899, 'Argentina');

insert into book (author_id, title, published, shelf, price_paid, is_withdrawn) values
  (1, 'The Dispossessed', 1974, 'F-LEG', 12.50, false),
  (1, 'The Left Hand of Darkness', 1969, 'F-LEG', 11.00, false),
  (1, 'The Lathe of Heaven', 1971, 'F-LEG', 9.90, true),
  (2, 'Solaris', 1961, 'F-LEM', 10.20, false),
  (2, 'The Cyberiad', 1965, 'F-LEM', 13.75, false),
  (3, 'Kindred', 1979, 'F-BUT', 14.00, false),
  (3, 'Parable of the Sower', 1993, 'F-BUT', 15.40, false),
  (4, 'Invisible Cities', 1972, 'F-CAL', 8.80, false),
  (4, 'If on a winter''s night a traveler', 1979, 'F-CAL', 9.10, false),
  (5, 'The Summer Book', 1972, 'F-JAN', 7.60, false),
  (6, 'Ficciones', 1944, 'F-BOR', 16.30, false),
  (6, 'The Book of Sand', 1975, 'F-BOR', 6.00, true);

insert into member (name, email, joined_on) values
  ('Amina Diallo', 'amina@example.org', '2023-02-11'),
  ('Jonas Weber', 'jonas@example.org', '2023-09-30'),
  ('Mei Tanaka', 'mei@example.org', '2024-05-04');

insert into loan (book_id, member_id, lent_on, due_on, returned_on, note) values
  (1, 1, '2025-01-10', '2025-02-07', '2025-02-03', null),
  (4, 1, '2025-03-01', '2025-03-29', null, 'reminded twice'),
  (6, 2, '2025-02-14', '2025-03-14', '2025-03-14', null),
  (8, 2, '2025-03-20', '2025-04-17', null, null),
  (10, 3, '2025-03-22', '2025-04-19', null, null);
