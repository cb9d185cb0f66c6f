-- The number of times that an engine ended while it made the call.
alter table pergola.action_call add column interruptions int not null default 0;
