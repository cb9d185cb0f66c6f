create table maker (id integer primary key generated always as identity, name text not null);
create table product (
  id integer primary key generated always as identity,
  maker_id integer not null references maker (id),
  name text not null,
  cost numeric(8, 2) not null,
  is_hidden boolean not null default false
);
create table sale (id integer primary key, product_id integer not null references product (id), customer_id integer not null);

insert into maker (name) values ('Anvil'), ('Bellows'), ('Crane');
insert into product (maker_id, name, cost, is_hidden) values
  (1, 'awl', 2.50, false), (1, 'axe', 9.00, true), (2, 'bolt', 0.10, false), (3, 'chisel', 4.00, false);
insert into sale values (1, 1, 1), (2, 3, 1), (3, 4, 2);
