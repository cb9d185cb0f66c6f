/** Scheduled events that are due, in the metadata database, shared by every replica: who takes one has it alone until its
 *  lease ends. A lease outlives the time the webhook has, so an event is told twice only when the engine that told it is gone.
 *  Not here: the tables (store/migrations/), which events there are (upcoming-events.ts), what administrators read and write
 *  (admin/scheduled-events.ts). Reference: docs/reference/behaviour/scheduled-triggers.md. */

import type { Database } from '../database/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import type { OneOffEvent } from '../metadata/schema/event.ts';
import type { Attempt } from './deliver.ts';
import type { RetryDecision } from './retry.ts';

export type ScheduledEvent = {
  readonly id: string;
  readonly type: 'cron' | 'one_off' | 'cleanup';
  /** Null where it happens once; then `definition` is not. */
  readonly trigger: string | null;
  readonly definition: OneOffEvent | null;
  readonly scheduledTime: string;
  readonly createdAt: string;
  /** Since it should have been told first, and since it was to be told now. */
  readonly lateSeconds: number;
  readonly waitedSeconds: number;
  /** Made before. */
  readonly tries: number;
  /** The key that events are counted by when they are fetched: the trigger, or the webhook's host for one-off events. */
  readonly lane: string;
};

export type Due = {
  readonly crons: readonly string[];
  readonly cleanups: readonly string[];
  readonly most: number;
  /** How many events of a lane may be taken; `otherwise` of a lane that is not listed. */
  readonly rooms: ReadonlyMap<string, number>;
  readonly otherwise: number;
  /** Of an event that does not say itself how long its webhook may take. */
  readonly timeoutSeconds: number;
};

/** For writing the answer down, beyond the time the webhook has. */
const LEASE_MARGIN_SECONDS = 60;

/** One that happens once has the scheme and host of its webhook, or the name of the variable that holds it. */
const LANE = `case type
  when 'one_off' then 'one_off ' || coalesce(
    definition #>> '{webhook,from_env}',
    substring(definition #>> '{webhook}' from '^[^/]*//[^/?#]*'),
    definition #>> '{webhook}')
  else type || ' ' || trigger_name end`;

const IS_DUE = `scheduled_time <= now()
  and ((status = 'scheduled' and (next_retry_at is null or next_retry_at <= now()))
    or (status = 'locked' and lease_ends_at < now()))
  and (type = 'one_off' or (type = 'cron' and trigger_name = any($1))
                        or (type = 'cleanup' and trigger_name = any($2)))`;

/** Takes the oldest that are due, of each lane in turn. */
export async function takeScheduled(database: Database, due: Due): Promise<readonly ScheduledEvent[]> {
  const taken = await database.query(
    `with due as (
       select id, scheduled_time, lane, row_number() over (partition by lane order by scheduled_time) as turn
         from (select id, scheduled_time, ${LANE} as lane from pergola.scheduled_event where ${IS_DUE}) due),
     oldest as (
       select id, due.lane
         from due left join unnest($6::text[], $7::int[]) as wanted (lane, room) on wanted.lane = due.lane
        where turn <= coalesce(room, $8)
        order by turn, scheduled_time
        limit $3),
     picked as materialized (
       select id, lane from pergola.scheduled_event e join oldest using (id) where ${IS_DUE}
          for update of e skip locked)
     update pergola.scheduled_event e
        set status = 'locked',
            lease_ends_at = now() + interval '1 second' *
              ($5::float8 + least(coalesce((definition #>> '{retry_conf,timeout_seconds}')::float8, $4), 86400))
       from picked
      where e.id = picked.id
  returning e.id::text, type, trigger_name as trigger, definition::text, tries, lane,
            ${isoTimestampSql('scheduled_time')} as "scheduledTime", ${isoTimestampSql('created_at')} as "createdAt",
            extract(epoch from now() - scheduled_time)::float8 as "lateSeconds",
            extract(epoch from now() - coalesce(next_retry_at, scheduled_time))::float8 as "waitedSeconds"`,
    [
      due.crons,
      due.cleanups,
      due.most,
      due.timeoutSeconds,
      LEASE_MARGIN_SECONDS,
      [...due.rooms.keys()],
      [...due.rooms.values()],
      due.otherwise,
    ],
  );
  return (taken.rows as readonly (ScheduledEvent & { readonly definition: string | null })[]).map((row) => ({
    ...row,
    definition: row.definition === null ? null : (parseJson(row.definition) as OneOffEvent),
  }));
}

const STATUS_AFTER = { delivered: 'delivered', failed: 'error', again: 'scheduled' } as const;

/** Writes down what was told and answered, and what is to become of the event; of one that was deleted meanwhile nothing. */
export async function recordScheduledAttempt(
  database: Database,
  id: string,
  { status, request, response }: Attempt,
  verdict: RetryDecision,
): Promise<void> {
  await database.query(
    `with told as (
       update pergola.scheduled_event
          set tries = tries + 1, status = $5, lease_ends_at = null,
              next_retry_at = now() + $6::float8 * interval '1 second'
        where id = $1 returning id)
     insert into pergola.scheduled_event_invocation (event_id, status, request, response)
     select id, $2, $3, $4 from told`,
    [
      id,
      status,
      JSON.stringify(request),
      JSON.stringify(response),
      STATUS_AFTER[verdict.kind],
      verdict.kind === 'again' ? verdict.afterSeconds : null,
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

/** Gives events back that were taken and not told. */
export async function releaseScheduled(database: Database, ids: readonly string[]): Promise<void> {
  await database.query(
    `update pergola.scheduled_event set status = 'scheduled', lease_ends_at = null
      where id = any($1) and status = 'locked'`,
    [ids],
  );
}

/** A timestamp as `2026-01-31T12:00:00Z`, whatever the time zone of the session. */
export function isoTimestampSql(column: string): string {
  return `to_json(${column} at time zone 'utc') #>> '{}' || 'Z'`;
}
