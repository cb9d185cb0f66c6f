/** The log of events in a source's database, shared by every replica: who takes an event has it alone until its lease ends.
 *  A lease outlives the time the webhook has, so an event is told twice only when the engine that told it is gone.
 *  Not here: the table (event-log.sql), who writes events (sql/event-trigger.ts), telling (deliver.ts), what administrators
 *  read of it (admin/events.ts). Reference: docs/reference/behaviour/event-triggers.md. */

import type { Database } from '../database/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Attempt } from './deliver.ts';
import type { RetryDecision } from './retry.ts';

export type LoggedEvent = {
  readonly id: string;
  readonly createdAt: string;
  readonly schema: string;
  readonly table: string;
  readonly trigger: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Made before. */
  readonly tries: number;
  /** Since it was to be told. */
  readonly waitedSeconds: number;
};

type Text = Readonly<
  Record<'id' | 'created_at' | 'schema_name' | 'table_name' | 'trigger_name' | 'payload', string>
> & {
  readonly tries: number;
  readonly waited: number;
};

/** How many events of a trigger may be taken, and how many for its webhook's host. */
export type TriggerSlots = {
  readonly trigger: string;
  readonly room: number;
  readonly host: string;
  readonly hostRoom: number;
};

/** Takes the oldest that are due, of each trigger in turn: the first of each, then the second of each. A long backlog of one
 *  trigger therefore does not fill what is taken. */
export async function takeEvents(
  database: Database,
  { triggers, most, leaseSeconds }: { triggers: readonly TriggerSlots[]; most: number; leaseSeconds: number },
): Promise<readonly LoggedEvent[]> {
  const taken = await database.query(
    `with wanted as (
       select * from unnest($1::text[], $2::int[], $3::text[], $4::int[])
         as wanted (name, room, host, host_room)),
     due as (
       select id, created_at, turn, host_room,
              row_number() over (partition by host order by turn, created_at) as host_turn
         from wanted, lateral (
           select id, created_at, row_number() over (order by created_at) as turn
             from (
               select id, created_at from pergola.event_log
                where trigger_name = wanted.name and not delivered and not error and not archived
                  and (locked is null or locked < now() - $6::int * interval '1 second')
                  and (next_retry_at is null or next_retry_at <= now())
                order by created_at
                limit least(wanted.room, $5)
                for update skip locked) oldest) of_trigger),
     picked as materialized (
       select id from due where host_turn <= host_room order by turn, created_at limit $5)
     update pergola.event_log set locked = now()
      where id in (select id from picked)
  returning id::text, trigger_name, schema_name, table_name, tries, payload::text,
            to_json(created_at at time zone 'utc') #>> '{}' || 'Z' as created_at,
            extract(epoch from now() - coalesce(next_retry_at, created_at))::float8 as waited`,
    [
      triggers.map(({ trigger }) => trigger),
      triggers.map(({ room }) => room),
      triggers.map(({ host }) => host),
      triggers.map(({ hostRoom }) => hostRoom),
      most,
      leaseSeconds,
    ],
  );
  return (taken.rows as readonly Text[]).map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    schema: row.schema_name,
    table: row.table_name,
    trigger: row.trigger_name,
    payload: parseJson(row.payload) as LoggedEvent['payload'],
    tries: row.tries,
    waitedSeconds: row.waited,
  }));
}

/** Writes down what was told and answered, and what is to become of the event. */
export async function recordAttempt(
  database: Database,
  event: LoggedEvent,
  { status, request, response }: Attempt,
  verdict: RetryDecision,
): Promise<void> {
  const retryAfter = verdict.kind === 'again' ? verdict.afterSeconds : null;
  await database.query(
    `with noted as (
       insert into pergola.event_invocation_log (trigger_name, event_id, status, request, response)
       values ($2, $1, $3, $4, $5))
     update pergola.event_log
        set tries = tries + 1, locked = null, delivered = $6, error = $7,
            next_retry_at = now() + $8::float8 * interval '1 second'
      where id = $1`,
    [
      event.id,
      event.trigger,
      status,
      JSON.stringify(request),
      JSON.stringify(response),
      verdict.kind === 'delivered',
      verdict.kind === 'failed',
      retryAfter,
    ],
  );
}

/** Gives events back that were taken and not told. */
export async function releaseEvents(database: Database, ids: readonly string[]): Promise<void> {
  await database.query('update pergola.event_log set locked = null where id = any($1)', [ids]);
}
