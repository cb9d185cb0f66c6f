create table "Reviews" (
  "ReviewId" int primary key,
  "ProductId" int not null references "Products" ("ProductId"),
  "AuthorId" uuid references "Customers" ("CustomerId"),
  "ModeratedById" uuid references "Customers" ("CustomerId")
);
create view "ReviewCounts" as select "ProductId", count(*) as "Reviews" from "Reviews" group by "ProductId";
alter table "Orders" add column "GiftAddressId" int references "Addresses" ("AddressId");
create or replace view "ActiveCustomers" as
  select "CustomerId", "FullName", "EMail", "ReferredById" from "Customers" where "CreatedAt" > now() - interval '1 year';
drop table "ProductTags";
drop materialized view "ProductSales";
