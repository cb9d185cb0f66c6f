/** Upcoming events: rows of the metadata database for the next times of every schedule, so that an event that is due while no engine
 *  runs is not lost. The rows follow the model: events of obsolete schedules are deleted and missing ones are inserted, after every
 *  change of the document and periodically.
 *  The same goes for events that the document declares: a name and a time identify one. It is inserted once, even if its row is deleted later,
 *  and deleted if it is no longer declared before it is delivered.
 *  Not here: what happens when an event is due (scheduled-feed.ts), cron expressions (resolve/schedule.ts).
 *  Reference: docs/reference/behaviour/event-triggers.md, docs/reference/behaviour/scheduled-triggers.md. */
import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';
import { isSameJsonText } from '../json/value.ts';
import type { Model } from '../resolve/model/model.ts';
import { timesAfter } from '../resolve/schedule.ts';

/** A schedule and the name of its trigger. Names of event triggers are unique across sources. */
type RecurringSchedule = {
  readonly type: 'cron' | 'cleanup';
  readonly name: string;
  readonly schedule: string;
};

/** The number of upcoming rows per schedule. Administrators list the rows of cron triggers; the rows of cleanups are not listed. */
const AHEAD = { cron: 100, cleanup: 1 } as const;

/** Returns all schedules of the model: those of cron triggers and those of cleanups. */
function schedulesOf({ cronTriggers, sources }: Model): readonly RecurringSchedule[] {
  const crons = [...cronTriggers.values()].map(
    ({ name, schedule }): RecurringSchedule => ({ type: 'cron', name, schedule }),
  );
  const cleanups = [...sources.values()].flatMap(({ eventTriggers }) =>
    [...eventTriggers.values()].flatMap(({ name, cleanup }): RecurringSchedule[] =>
      cleanup ? [{ type: 'cleanup', name, schedule: cleanup.schedule }] : [],
    ),
  );
  return [...crons, ...cleanups];
}

/** Updates the upcoming events if a change of the document changed a schedule or a declared event. */
export async function updateSchedules(
  database: Database,
  before: Model,
  after: Model,
  version: number,
): Promise<void> {
  if (before === after) return;
  const isSame =
    isSameJsonText(schedulesOf(after), schedulesOf(before)) &&
    isSameJsonText(declaredEvents(after), declaredEvents(before));
  if (!isSame) await updateUpcomingEvents(database, after, version);
}

/** Deletes events of obsolete schedules and declarations, and inserts missing ones. Does nothing if `version` is not that of the stored document, because
 *  a replica with a newer document does it. */
export async function updateUpcomingEvents(database: Database, model: Model, version: number): Promise<void> {
  const schedules = schedulesOf(model);
  await database.transaction({}, async (client) => {
    const current = await client.query('select from pergola.metadata where resource_version = $1 for share', [
      version,
    ]);
    if (current.rowCount === 0) return;
    await deleteObsolete(client, schedules);
    if (schedules.length > 0) await insertMissing(client, schedules);
    await updateDeclaredEvents(client, declaredEvents(model));
  });
}

const WANTED = 'unnest($1::text[], $2::text[], $3::text[]) as wanted (type, name, schedule)';

/** Deletes events of obsolete schedules. Events that were attempted already are kept and marked as dead. */
async function deleteObsolete(client: ClientBase, schedules: readonly RecurringSchedule[]): Promise<void> {
  await client.query(
    `delete from pergola.scheduled_event e
      where type in ('cron', 'cleanup') and status = 'scheduled' and tries = 0
        and not exists (select from ${WANTED}
                         where wanted.type = e.type and name = trigger_name and wanted.schedule = e.schedule)`,
    columnsOf(schedules),
  );
  await client.query(
    `update pergola.scheduled_event e set status = 'dead', next_retry_at = null, lease_ends_at = null
      where type in ('cron', 'cleanup') and (status = 'scheduled' or (status = 'locked' and lease_ends_at < now()))
        and not exists (select from ${WANTED} where wanted.type = e.type and name = trigger_name)`,
    columnsOf(schedules),
  );
}

type Known = { readonly waiting: number; readonly from: number };

async function insertMissing(client: ClientBase, schedules: readonly RecurringSchedule[]): Promise<void> {
  const known = await client.query(
    `select count(id)::int as waiting,
            extract(epoch from greatest(now(), max(scheduled_time)))::float8 * 1000 as from
       from unnest($1::text[], $2::text[], $3::text[]) with ordinality as wanted (type, name, schedule, place)
       left join pergola.scheduled_event e
         on e.type = wanted.type and trigger_name = name and status = 'scheduled' and scheduled_time > now()
      group by place order by place`,
    columnsOf(schedules),
  );
  const rows = (known.rows as readonly Known[]).flatMap(({ waiting, from }, i) => {
    const { type, name, schedule } = schedules[i]!;
    const missing = AHEAD[type] - waiting;
    if (missing <= 0) return [];
    return timesAfter(schedule, new Date(from), missing).map((time) => ({ type, name, schedule, time }));
  });
  if (rows.length === 0) return;
  await client.query(
    `insert into pergola.scheduled_event (type, trigger_name, schedule, scheduled_time)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
     on conflict do nothing`,
    [...columnsOf(rows), rows.map(({ time }) => time.toISOString())],
  );
}

function columnsOf(schedules: readonly RecurringSchedule[]): (readonly string[])[] {
  return [
    schedules.map(({ type }) => type),
    schedules.map(({ name }) => name),
    schedules.map(({ schedule }) => schedule),
  ];
}

/** The identity of an event; `time` is in UTC. */
type EventIdentity = { readonly name: string; readonly time: string };

function declaredEvents({ scheduledEvents }: Model): readonly EventIdentity[] {
  return [...scheduledEvents.values()].map(({ name, time }) => ({ name, time }));
}

const DECLARED = 'unnest($1::text[], $2::timestamptz[]) as declared (name, scheduled_time)';
const IS_WAITING = `(status = 'scheduled' or (status = 'locked' and lease_ends_at < now()))`;

/** Deletes waiting events that are not declared, and inserts declared ones that have never been inserted. */
async function updateDeclaredEvents(client: ClientBase, declared: readonly EventIdentity[]): Promise<void> {
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
