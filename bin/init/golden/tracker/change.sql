alter table projects add column parent_project_id int;
alter table projects add foreign key (tenant_id, parent_project_id) references projects (tenant_id, id);
create view reporting.comment_counts as select tenant_id, issue_id, count(*) as comments from comments group by 1, 2;
drop view reporting.pairs;
alter table issues drop column "group";
drop function issues_age;
