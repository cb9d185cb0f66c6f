-- A tracker of many tenants: keys with the tenant, several schemas, reserved words.
create schema auth;
create schema reporting;
create table tenants (id uuid primary key default gen_random_uuid(), name text not null, slug text not null unique);
create table auth.users (
  id uuid primary key default gen_random_uuid(),
  email text not null unique,
  password_digest text not null,
  api_token text
);
create table auth.sessions (id uuid primary key, user_id uuid not null references auth.users, refresh_token_hash text not null);
create table memberships (
  tenant_id uuid references tenants,
  user_id uuid references auth.users,
  invited_by uuid references auth.users,
  role text not null,
  primary key (tenant_id, user_id)
);
create table roles (value text primary key, comment text);
insert into roles values ('owner', 'May do everything.'), ('member', 'May work.'), ('guest', null);
alter table memberships add foreign key (role) references roles;
create table projects (
  tenant_id uuid not null references tenants,
  id int not null,
  name text not null,
  key text not null,
  lead_id uuid,
  primary key (tenant_id, id),
  foreign key (tenant_id, lead_id) references memberships (tenant_id, user_id)
);
create table issues (
  tenant_id uuid not null,
  project_id int not null,
  id int not null,
  parent_issue_id int,
  title text not null,
  "order" int not null default 0,
  "group" text,
  "select" boolean,
  reporter_id uuid not null,
  assignee_id uuid,
  duplicate_of int,
  search tsvector generated always as (to_tsvector('english', title)) stored,
  primary key (tenant_id, id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id),
  foreign key (tenant_id, parent_issue_id) references issues (tenant_id, id),
  foreign key (tenant_id, duplicate_of) references issues (tenant_id, id),
  foreign key (tenant_id, reporter_id) references memberships (tenant_id, user_id),
  foreign key (tenant_id, assignee_id) references memberships (tenant_id, user_id)
);
comment on table issues is 'What is to be done.';
comment on column issues."order" is 'The position on the board; 0 is the top.';
create table labels (tenant_id uuid references tenants, id int, name text not null, colour text, primary key (tenant_id, id));
create table issue_labels (
  tenant_id uuid,
  issue_id int,
  label_id int,
  primary key (tenant_id, issue_id, label_id),
  foreign key (tenant_id, issue_id) references issues (tenant_id, id),
  foreign key (tenant_id, label_id) references labels (tenant_id, id)
);
create table comments (
  id bigint generated always as identity primary key,
  tenant_id uuid not null,
  issue_id int not null,
  author_id uuid not null references auth.users,
  reply_to_id bigint references comments,
  body text not null,
  "created-at" timestamptz not null default now(),
  foreign key (tenant_id, issue_id) references issues (tenant_id, id)
);
-- A table that follows another one row by row.
create table issue_estimates (
  tenant_id uuid,
  issue_id int,
  hours numeric not null,
  primary key (tenant_id, issue_id),
  foreign key (tenant_id, issue_id) references issues (tenant_id, id)
);
create table "user" (id int primary key, type text);
create table "äöü" (id int primary key, "straße" text);
create table "таблица" (id int primary key, "имя" text);

create view reporting.open_issues as
  select i.tenant_id, i.id, i.project_id, i.title, i.assignee_id, u.email as assignee_email
  from issues i left join auth.users u on u.id = i.assignee_id
  where i.duplicate_of is null;
comment on view reporting.open_issues is 'Issues that somebody should do.';
create view reporting.open_issues_of_projects as
  select p.tenant_id, p.id as project_id, p.name, count(o.id) as open
  from projects p left join reporting.open_issues o on o.tenant_id = p.tenant_id and o.project_id = p.id
  group by p.tenant_id, p.id;
create materialized view reporting.active_users as
  select distinct author_id as user_id from comments;
create view reporting.everyone as select id, email from auth.users union all select gen_random_uuid(), 'nobody';
create view reporting.totals as select count(*) as issues from issues;
create view reporting.pairs as
  select a.id as first_id, b.id as second_id from comments a join comments b on a.reply_to_id = b.id;
-- Nothing follows: either tenant could be that of the project, and a cast is not the column.
create view reporting.moves as
  select a.tenant_id, b.tenant_id as to_tenant_id, a.project_id, a.reporter_id::text as reporter_id
  from issues a join issues b on a.id = b.id;
create view reporting.label_names as
  select il.tenant_id, il.issue_id, il.label_id, l.name from issue_labels il join labels l on (l.tenant_id, l.id) = (il.tenant_id, il.label_id);

create function search_issues(query text) returns setof issues language sql stable as
  $$ select * from issues where search @@ plainto_tsquery('english', query) $$;
create function issues_age(issue issues) returns int language sql stable as $$ select 1 $$;
create function tenant_open_count(tenant tenants) returns bigint language sql stable as
  $$ select count(*) from issues where tenant_id = tenant.id $$;
create function close_issue(tenant_id uuid, issue_id int) returns setof issues language sql as
  $$ update issues i set title = title where i.tenant_id = close_issue.tenant_id returning i.* $$;
create function touch() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger touch before update on issues for each row execute function touch();

-- Comments that would end a comment of YAML.
comment on table labels is E'Line\rkind: Injected\u2028kind: Injected\u0085more \u0007 of it \t# and ---\n---\n';
