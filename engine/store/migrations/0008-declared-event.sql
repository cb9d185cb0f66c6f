-- Events that the metadata document declares are rows of scheduled_event, too. Their name is in trigger_name.
alter table pergola.scheduled_event drop constraint scheduled_event_type_check;
alter table pergola.scheduled_event
  add constraint scheduled_event_type_check check (type in ('cron', 'one_off', 'cleanup', 'declared'));

-- Every declared event that has been inserted. It stays when the row of the event is deleted after delivery, so that no event is
-- inserted, and delivered, a second time.
create table pergola.declared_event (
  name text not null,
  scheduled_time timestamptz not null,
  primary key (name, scheduled_time)
);
