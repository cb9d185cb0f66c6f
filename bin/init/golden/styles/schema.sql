-- Three styles of names beside each other, in a schema each.
create schema prisma;
create table prisma."User" (id text primary key, email text not null unique, name text);
create table prisma."UserProfile" (id text primary key, bio text, "userId" text not null unique references prisma."User" (id));
create table prisma."Post" (
  id text primary key,
  title text not null,
  published boolean not null default false,
  "authorId" text not null references prisma."User" (id),
  "reviewedById" text references prisma."User" (id)
);
create table prisma."Category" (id int primary key, name text not null, "parentId" int references prisma."Category" (id));
create table prisma."_CategoryToPost" ("A" int not null references prisma."Category" (id), "B" text not null references prisma."Post" (id));
create view prisma."PostStats" as
  select p.id as "postId", p."authorId", length(p.title) as "titleLength" from prisma."Post" p;

create schema oracle;
create table oracle."EMPLOYEES" (
  "EMPLOYEE_ID" int primary key,
  "LAST_NAME" text not null,
  "MANAGER_ID" int references oracle."EMPLOYEES" ("EMPLOYEE_ID"),
  "DEPARTMENT_ID" int
);
create table oracle."DEPARTMENTS" (
  "DEPARTMENT_ID" int primary key,
  "DEPARTMENT_NAME" text not null,
  "MANAGER_ID" int references oracle."EMPLOYEES" ("EMPLOYEE_ID")
);
alter table oracle."EMPLOYEES" add foreign key ("DEPARTMENT_ID") references oracle."DEPARTMENTS" ("DEPARTMENT_ID");
create table oracle."JOB_HISTORY" (
  "EMPLOYEE_ID" int references oracle."EMPLOYEES" ("EMPLOYEE_ID"),
  "START_DATE" date,
  "DEPARTMENT_ID" int not null references oracle."DEPARTMENTS" ("DEPARTMENT_ID"),
  primary key ("EMPLOYEE_ID", "START_DATE")
);
create view oracle."EMP_DETAILS_VIEW" as
  select e."EMPLOYEE_ID", e."LAST_NAME", d."DEPARTMENT_ID", d."DEPARTMENT_NAME"
  from oracle."EMPLOYEES" e join oracle."DEPARTMENTS" d using ("DEPARTMENT_ID");

create schema legacy;
create table legacy.tbl_customer (id int primary key, name text);
create table legacy.tbl_order (id int primary key, fk_customer int references legacy.tbl_customer, customer_id_2 int references legacy.tbl_customer);
create view legacy.v_order as select * from legacy.tbl_order;
create view legacy.vw_order_totals as select fk_customer, count(*) as orders from legacy.tbl_order group by fk_customer;

-- Views in the place of tables that are not served.
create schema private;
create table private.customers (id int primary key, name text, secret_note text);
create table private.orders (id int primary key, customer_id int references private.customers);
create schema api;
create view api.customer as select id, name from private.customers;
create view api."order" as select id, customer_id from private.orders;
