/** Rows of the metadata database for events that the document declares. A name and a time identify an event. It is inserted once, even
 *  if its row is deleted later, and deleted if it is no longer declared before it is delivered.
 *  Not here: when rows are updated (upcoming-events.ts), delivery (scheduled-feed.ts), declarations (resolve/scheduled-event.ts).
 *  Reference: docs/reference/behaviour/scheduled-triggers.md. */
import type { ClientBase } from 'pg';
import type { Model } from '../resolve/model/model.ts';

/** The identity of an event; `time` is in UTC. */
type EventIdentity = { readonly name: string; readonly time: string };

export function declaredEvents({ scheduledEvents }: Model): readonly EventIdentity[] {
  return [...scheduledEvents.values()].map(({ name, time }) => ({ name, time }));
}

const DECLARED = 'unnest($1::text[], $2::timestamptz[]) as declared (name, scheduled_time)';
const IS_WAITING = `(status = 'scheduled' or (status = 'locked' and lease_ends_at < now()))`;

/** Deletes waiting events that are not declared, and inserts declared ones that have never been inserted. */
export async function updateDeclaredEvents(
  client: ClientBase,
  declared: readonly EventIdentity[],
): Promise<void> {
  const columns = [declared.map(({ name }) => name), declared.map(({ time }) => time)];
  await client.query(
    `with deleted as (
       delete from pergola.scheduled_event e
        where type = 'declared' and ${IS_WAITING}
          and not exists (select from ${DECLARED}
                           where name = trigger_name and declared.scheduled_time = e.scheduled_time)
       returning trigger_name, scheduled_time)
     delete from pergola.declared_event d using deleted
      where d.name = trigger_name and d.scheduled_time = deleted.scheduled_time`,
    columns,
  );
  if (declared.length === 0) return;
  await client.query(
    `with inserted as (
       insert into pergola.declared_event (name, scheduled_time) select name, scheduled_time from ${DECLARED}
       on conflict do nothing returning name, scheduled_time)
     insert into pergola.scheduled_event (type, trigger_name, scheduled_time)
     select 'declared', name, scheduled_time from inserted
     on conflict do nothing`,
    columns,
  );
}
