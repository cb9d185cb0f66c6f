/** Scheduled events in the metadata database, which every replica shares: taken by workers when they are due, created and read by
 *  administrators. The replica that takes an event holds it until its lease ends. The lease is longer than the webhook's timeout, so an
 *  event is delivered twice only if the engine that took it has stopped.
 *  Not here: the tables (store/migrations/), rows for upcoming times and declared events (upcoming-events.ts), delivery (scheduled-feed.ts).
 *  Reference: docs/reference/behaviour/scheduled-triggers.md. */
import { boundedRead } from '../database/bounded-read.ts';
import type { Database } from '../database/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import type { OneOffEvent } from '../metadata/schema/event.ts';
import type { DeliveryAttempt } from './deliver.ts';
import type { RetryDecision } from './retry.ts';
import type { ReleasedJob } from './worker.ts';

export type ScheduledEvent = {
  readonly id: string;
  readonly type: EventType | 'cleanup';
  /** The name of the trigger or of the declared event; null for a one-off event, which has a definition instead. */
  readonly trigger: string | null;
  readonly definition: OneOffEvent | null;
  readonly scheduledTime: string;
  readonly createdAt: string;
  /** The time since the event was due first, and the time since this attempt was due. */
  readonly lateSeconds: number;
  readonly waitedSeconds: number;
  /** The number of earlier attempts. */
  readonly tries: number;
  /** The key that events are counted by when they are fetched: the trigger, or the webhook's host for one-off events. */
  readonly lane: string;
  /** True when the engine that took the event before has ended. */
  readonly isInterrupted: boolean;
};

type Due = {
  readonly crons: readonly string[];
  readonly cleanups: readonly string[];
  readonly declared: readonly string[];
  readonly most: number;
  /** The number of events of each lane that may be taken; `otherwise` applies to lanes that are not listed. */
  readonly rooms: ReadonlyMap<string, number>;
  readonly otherwise: number;
  /** The webhook timeout of events that have none of their own. */
  readonly timeoutSeconds: number;
  /** True when an interrupted event may be taken. */
  readonly takesInterrupted: boolean;
};

/** The time for recording the answer, beyond the webhook's timeout. */
const LEASE_MARGIN_SECONDS = 60;

/** The lane of a one-off event has the scheme and host of its webhook, or the name of the variable that holds its URL. */
const LANE = `case type
  when 'one_off' then 'one_off ' || coalesce(
    definition #>> '{webhook,from_env}',
    definition #>> '{webhook,from_value}',
    definition #>> '{webhook,from_file}',
    substring(definition #>> '{webhook}' from '^[^/]*//[^/?#]*'),
    definition #>> '{webhook}')
  else type || ' ' || trigger_name end`;

const IS_DUE = `scheduled_time <= now()
  and status = 'scheduled' and (next_retry_at is null or next_retry_at <= now())`;
/** The lease of an event has ended: it was in delivery when its engine ended, perhaps because of the delivery. */
const IS_INTERRUPTED = `status = 'locked' and lease_ends_at < now()`;
const IS_TAKEN_HERE = `(type = 'one_off' or (type = 'cron' and trigger_name = any($1))
                        or (type = 'cleanup' and trigger_name = any($2))
                        or (type = 'declared' and trigger_name = any($9)))`;

/** Returns the definitions of one-off events that are not delivered yet and refer to a named value. */
export async function valuesOfPendingEvents(database: Database): Promise<readonly unknown[]> {
  const { rows } = await database.query(
    `select definition::text from pergola.scheduled_event
      where type = 'one_off' and status in ('scheduled', 'locked') and definition::text ~ 'value'`,
  );
  return rows.map(({ definition }) => parseJson(definition));
}

/** Takes the oldest due events of each lane in turn. An interrupted event is taken by itself, and only if no other event is. */
export async function takeScheduled(database: Database, due: Due): Promise<readonly ScheduledEvent[]> {
  const taken = await database.query(
    `with due as (
       select id, scheduled_time, lane, row_number() over (partition by lane order by scheduled_time) as turn
         from (select id, scheduled_time, ${LANE} as lane from pergola.scheduled_event
                where ${IS_DUE} and ${IS_TAKEN_HERE}) due),
     oldest as (
       select id, due.lane
         from due left join unnest($6::text[], $7::int[]) as wanted (lane, room) on wanted.lane = due.lane
        where turn <= coalesce(room, $8)
        order by turn, scheduled_time
        limit $3),
     picked as materialized (
       select id, lane from pergola.scheduled_event e join oldest using (id) where ${IS_DUE}
          for update of e skip locked),
     interrupted as materialized (
       select id, ${LANE} as lane from pergola.scheduled_event
        where $10::bool and not exists (select from picked) and $3 > 0
          and ${IS_INTERRUPTED} and ${IS_TAKEN_HERE}
        order by tries, lease_ends_at
        limit 1
        for update skip locked)
     update pergola.scheduled_event e
        set status = 'locked',
            lease_ends_at = now() + interval '1 second' *
              ($5::float8 + least(coalesce((definition #>> '{retry_conf,timeout_seconds}')::float8, $4), 86400))
       from (select *, false as interrupted from picked union all select *, true from interrupted) picked
      where e.id = picked.id
  returning e.id::text, type, trigger_name as trigger, definition::text, tries, lane,
            ${isoTimestampSql('scheduled_time')} as "scheduledTime", ${isoTimestampSql('created_at')} as "createdAt",
            extract(epoch from now() - scheduled_time)::float8 as "lateSeconds",
            extract(epoch from now() - coalesce(next_retry_at, scheduled_time))::float8 as "waitedSeconds",
            interrupted as "isInterrupted"`,
    [
      due.crons,
      due.cleanups,
      due.most,
      due.timeoutSeconds,
      LEASE_MARGIN_SECONDS,
      [...due.rooms.keys()],
      [...due.rooms.values()],
      due.otherwise,
      due.declared,
      due.takesInterrupted,
    ],
  );
  return (taken.rows as readonly (ScheduledEvent & { readonly definition: string | null })[]).map((row) => ({
    ...row,
    definition: row.definition === null ? null : (parseJson(row.definition) as OneOffEvent),
  }));
}

const STATUS_AFTER = { delivered: 'delivered', failed: 'error', again: 'scheduled', now: 'locked' } as const;

/** Records an attempt and what happens to the event next. Does nothing if the event was deleted meanwhile. */
export async function recordScheduledAttempt(
  database: Database,
  id: string,
  { status, request, response }: DeliveryAttempt,
  decision: RetryDecision,
): Promise<void> {
  await database.query(
    `with recorded as (
       update pergola.scheduled_event
          set tries = tries + 1, status = $5, lease_ends_at = case when $5 = 'locked' then lease_ends_at end,
              next_retry_at = now() + $6::float8 * interval '1 second'
        where id = $1 returning id)
     insert into pergola.scheduled_event_invocation (event_id, status, request, response)
     select id, $2, $3, $4 from recorded`,
    [
      id,
      status,
      JSON.stringify(request),
      JSON.stringify(response),
      STATUS_AFTER[decision.kind],
      decision.kind === 'again' ? decision.afterSeconds : null,
    ],
  );
}

/** Marks an event as dead: it is not delivered any more, because its time is too long ago. */
export async function markDead(database: Database, id: string): Promise<void> {
  await database.query(
    `update pergola.scheduled_event
        set status = 'dead', next_retry_at = null, lease_ends_at = null where id = $1`,
    [id],
  );
}

export async function deleteScheduled(database: Database, id: string): Promise<void> {
  await database.query('delete from pergola.scheduled_event where id = $1', [id]);
}

/** Releases events that were taken and not delivered. An interrupted event remains one. */
export async function releaseScheduled(database: Database, released: readonly ReleasedJob[]): Promise<void> {
  await database.query(
    `update pergola.scheduled_event e
        set status = case when is_interrupted then 'locked' else 'scheduled' end,
            lease_ends_at = case when is_interrupted then timestamptz 'epoch' end
       from unnest($1::uuid[], $2::bool[]) as released (id, is_interrupted)
      where e.id = released.id and status = 'locked'`,
    [released.map(({ id }) => id), released.map(({ isInterrupted }) => isInterrupted)],
  );
}

/** Returns SQL for a timestamp as `2026-01-31T12:00:00Z`, whatever the time zone of the session. */
function isoTimestampSql(column: string): string {
  return `to_json(${column} at time zone 'utc') #>> '{}' || 'Z'`;
}

/** Inserts an event that happens once. */
export async function insertOneOff(
  database: Database,
  { id, time, definition }: { readonly id: string; readonly time: string; readonly definition: OneOffEvent },
): Promise<void> {
  await database.query(
    `insert into pergola.scheduled_event (id, type, scheduled_time, definition) values ($1, 'one_off', $2, $3)`,
    [id, time, JSON.stringify(definition)],
  );
}

/** True when there is an event with the ID and type. */
export async function hasScheduled(database: Database, id: string, type: EventType): Promise<boolean> {
  const found = await database.query('select from pergola.scheduled_event where id = $1 and type = $2', [
    id,
    type,
  ]);
  return found.rowCount !== 0;
}

type EventType = 'cron' | 'one_off' | 'declared';

/** A page of a list, and whether the whole list is counted, too. */
export type ScheduledPage = {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly isCounted?: boolean | undefined;
};

type Listed = { readonly rows: readonly unknown[]; readonly count?: number };

/** The fields of an event in a list. All types begin with the same ones. */
const COMMON_FIELDS = `'id', id, 'scheduled_time', ${isoTimestampSql('scheduled_time')}, 'status', status, 'tries', tries,
  'created_at', ${isoTimestampSql('created_at')}, 'next_retry_at', ${isoTimestampSql('next_retry_at')}`;
const EVENT_FIELDS = {
  cron: `json_build_object(${COMMON_FIELDS}, 'trigger_name', trigger_name)`,
  declared: `json_build_object(${COMMON_FIELDS}, 'trigger_name', trigger_name)`,
  one_off: `json_build_object(${COMMON_FIELDS}, 'webhook_conf', definition -> 'webhook',
    'payload', definition -> 'payload', 'header_conf', coalesce(definition -> 'headers', '[]'),
    'retry_conf', definition -> 'retry_conf', 'comment', definition -> 'comment',
    'request_transform', definition -> 'request_transform', 'response_transform', definition -> 'response_transform')`,
} as const;

/** Lists events of a type: those of one trigger unless it is null, those with one of the statuses unless there are none. */
export function listScheduled(
  database: Database,
  {
    type,
    trigger,
    statuses,
    isNewestFirst,
    isDue,
  }: {
    readonly type: EventType;
    readonly trigger: string | null;
    readonly statuses: readonly string[];
    readonly isNewestFirst: boolean;
    /** True for events whose time has come alone. */
    readonly isDue: boolean;
  },
  page: ScheduledPage,
): Promise<Listed> {
  return listRows(database, page, {
    from: `pergola.scheduled_event where type = $1 and ($2::text is null or trigger_name = $2)
             and (cardinality($3::text[]) = 0 or status = any($3)) and (not $4::bool or scheduled_time <= now())`,
    fields: EVENT_FIELDS[type],
    order: isNewestFirst ? 'scheduled_time desc, id' : 'scheduled_time, id',
    values: [type, trigger, statuses, isDue],
  });
}

/** Lists invocations for events of a type: for one trigger unless it is null, for one event unless it is null. */
export function listInvocations(
  database: Database,
  { type, trigger, event }: { type: EventType; trigger: string | null; event: string | null },
  page: ScheduledPage,
): Promise<Listed> {
  return listRows(database, page, {
    from: `pergola.scheduled_event_invocation i join pergola.scheduled_event e on e.id = event_id
            where type = $1 and ($2::text is null or trigger_name = $2) and ($3::uuid is null or event_id = $3)`,
    fields: `json_build_object('id', i.id, 'event_id', event_id, 'status', i.status, 'request', request,
              'response', response, 'created_at', ${isoTimestampSql('i.created_at')})`,
    order: 'i.created_at desc, i.id',
    values: [type, trigger, event],
  });
}

function listRows(
  database: Database,
  { limit, offset, isCounted }: ScheduledPage,
  {
    from,
    fields,
    order,
    values,
  }: Readonly<Record<'from' | 'fields' | 'order', string>> & {
    readonly values: readonly unknown[];
  },
): Promise<Listed> {
  return boundedRead(database, async (client) => {
    const found = await client.query(
      `select (${fields})::text as row from ${from} order by ${order}
        limit $${values.length + 1} offset $${values.length + 2}`,
      [...values, limit ?? null, offset ?? 0],
    );
    const rows = found.rows.map(({ row }: { readonly row: string }) => parseJson(row));
    if (!isCounted) return { rows };
    const counted = await client.query(`select count(*)::int as count from ${from}`, [...values]);
    return { rows, count: counted.rows[0].count };
  });
}
