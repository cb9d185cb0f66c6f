/** The event log in a source's database, which every replica shares: created where it is missing, read by administrators, taken by
 *  workers, cleaned up. The replica that takes an event holds it until its lease ends. The lease is longer than the webhook's timeout,
 *  so an event is delivered twice only if the engine that took it has stopped.
 *  Not here: the triggers that write events (sql/event-trigger.ts), delivery (deliver.ts), when events are taken (event-feed.ts) and
 *  cleaned up (scheduled-feed.ts, admin/events.ts). Reference: docs/reference/behaviour/event-triggers.md. */
import { readFileSync } from 'node:fs';
import type { ClientBase, QueryResult } from 'pg';
import type { Database } from '../database/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { CleanupScope } from '../resolve/model/event-trigger.ts';
import type { DeliveryAttempt } from './deliver.ts';
import { grouped } from './grouped.ts';
import type { RetryDecision } from './retry.ts';
import type { ReleasedJob } from './worker.ts';

const TABLES = readFileSync(new URL('./event-log.sql', import.meta.url), 'utf8');
/** An arbitrary key that no other program locks. */
const ADVISORY_LOCK = '8097875193516056674';

/** True when the text can be the id of an event. */
export function isEventId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** True when the database has an event log. */
export async function hasLog(client: Pick<Database, 'query'> | ClientBase): Promise<boolean> {
  const found: QueryResult = await client.query(`select to_regclass('pergola.event_log') as log`);
  return found.rows[0].log !== null;
}

/** Creates the log if it is missing, inside the caller's transaction. */
export async function createLog(client: ClientBase): Promise<void> {
  if (await hasLog(client)) return addIndex(client);
  await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
  if (await hasLog(client)) return;
  // `if not exists` requires the privilege even if the schema exists.
  const found = await client.query(`select to_regnamespace('pergola') as schema`);
  if (!found.rows[0].schema) await client.query('create schema pergola');
  await client.query(TABLES);
}

/** Adds the index that events are taken by, which logs of earlier versions lack. Only the owner of the log may create it. */
async function addIndex(client: ClientBase): Promise<void> {
  const found = await client.query(
    `select to_regclass('pergola.event_log_due') is null and pg_has_role(relowner, 'usage') as "isMissing"
       from pg_class where oid = 'pergola.event_log'::regclass`,
  );
  if (!found.rows[0].isMissing) return;
  await client.query(
    `create index if not exists event_log_due on pergola.event_log (trigger_name, created_at)
      where not delivered and not error and not archived`,
  );
}

export type LoggedEvent = {
  readonly id: string;
  readonly createdAt: string;
  readonly schema: string;
  readonly table: string;
  readonly trigger: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The number of earlier attempts. */
  readonly tries: number;
  /** The time since the event was due. */
  readonly waitedSeconds: number;
  /** True when the engine that took the event before has ended. */
  readonly isInterrupted: boolean;
};

type EventRow = Readonly<
  Record<'id' | 'created_at' | 'schema_name' | 'table_name' | 'trigger_name' | 'payload', string>
> & {
  readonly tries: number;
  readonly waited: number;
  readonly is_interrupted: boolean;
};

/** The number of events of a trigger that may be taken, and the number for its webhook's host. */
type TriggerSlots = {
  readonly trigger: string;
  readonly free: number;
  readonly host: string;
  readonly freeForHost: number;
};

/** Takes the oldest due events of each trigger in turn: the first of each, then the second of each. The long backlog of one trigger
 *  therefore does not fill the batch. An event whose lease has ended was in delivery when its engine ended, perhaps because of
 *  the delivery: it is taken by itself, and only if no other event is. */
export async function takeEvents(
  database: Database,
  {
    triggers,
    most,
    leaseSeconds,
    takesInterrupted,
  }: {
    readonly triggers: readonly TriggerSlots[];
    readonly most: number;
    readonly leaseSeconds: number;
    /** True when an interrupted event may be taken. */
    readonly takesInterrupted: boolean;
  },
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
                  and locked is null
                  and (next_retry_at is null or next_retry_at <= now())
                order by created_at
                limit least(wanted.room, $5)
                for update skip locked) oldest) of_trigger),
     picked as materialized (
       select id from due where host_turn <= host_room order by turn, created_at limit $5),
     interrupted as materialized (
       select id from pergola.event_log
        where $7::bool and not exists (select from picked)
          and trigger_name = any($1) and not delivered and not error and not archived
          and locked < now() - $6::int * interval '1 second'
        order by tries, locked
        limit 1
        for update skip locked)
     update pergola.event_log set locked = now()
      where id in (select id from picked union all select id from interrupted)
  returning id::text, trigger_name, schema_name, table_name, tries, payload::text,
            to_json(created_at at time zone 'utc') #>> '{}' || 'Z' as created_at,
            extract(epoch from now() - coalesce(next_retry_at, created_at))::float8 as waited,
            id in (select id from interrupted) as is_interrupted`,
    [
      triggers.map(({ trigger }) => trigger),
      triggers.map(({ free }) => free),
      triggers.map(({ host }) => host),
      triggers.map(({ freeForHost }) => freeForHost),
      most,
      leaseSeconds,
      takesInterrupted,
    ],
  );
  return (taken.rows as readonly EventRow[]).map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    schema: row.schema_name,
    table: row.table_name,
    trigger: row.trigger_name,
    payload: parseJson(row.payload) as LoggedEvent['payload'],
    tries: row.tries,
    waitedSeconds: row.waited,
    isInterrupted: row.is_interrupted,
  }));
}

/** An attempt to deliver an event, and what happens to the event next. */
type RecordedAttempt = {
  readonly event: LoggedEvent;
  readonly attempt: DeliveryAttempt;
  readonly decision: RetryDecision;
};

/** Records an attempt. Does nothing if the event was deleted meanwhile. */
export const recordAttempt = grouped<RecordedAttempt>({
  many: async (database, records) => {
    // Waiting for a lock would delay the others, and could end in a deadlock with a statement that changes many events.
    const written = await writeAttempts(database, records, 'for update skip locked');
    return new Set(records.filter(({ event }) => written.has(event.id)));
  },
  one: async (database, record) => {
    await writeAttempts(database, [record], 'for update');
  },
});

/** Returns the IDs of the events whose attempts were recorded. */
async function writeAttempts(
  database: Database,
  records: readonly RecordedAttempt[],
  lock: 'for update' | 'for update skip locked',
): Promise<ReadonlySet<string>> {
  const { rows } = await database.query(
    `with attempt as (
       select * from unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::float8[])
         as attempt (id, trigger, status, request, response, decision, after_seconds)),
     present as (select id from pergola.event_log where id = any($1) ${lock}),
     updated as (
       update pergola.event_log e
          set tries = tries + 1, locked = case decision when 'now' then now() end,
              delivered = decision = 'delivered', error = decision = 'failed',
              next_retry_at = now() + after_seconds * interval '1 second'
         from attempt
        where e.id = attempt.id and e.id in (select id from present)
    returning e.id)
     insert into pergola.event_invocation_log (trigger_name, event_id, status, request, response)
     select trigger, id, status, request::json, response::json from attempt where id in (select id from updated)
  returning event_id::text as id`,
    [
      records.map(({ event }) => event.id),
      records.map(({ event }) => event.trigger),
      records.map(({ attempt }) => attempt.status),
      records.map(({ attempt }) => JSON.stringify(attempt.request)),
      records.map(({ attempt }) => JSON.stringify(attempt.response)),
      records.map(({ decision }) => decision.kind),
      records.map(({ decision }) => (decision.kind === 'again' ? decision.afterSeconds : null)),
    ],
  );
  return new Set(rows.map(({ id }: { readonly id: string }) => id));
}

/** Releases events that were taken and not delivered. An interrupted event remains one. */
export async function releaseEvents(database: Database, released: readonly ReleasedJob[]): Promise<void> {
  await database.query(
    `update pergola.event_log set locked = case when is_interrupted then timestamptz 'epoch' end
       from unnest($1::uuid[], $2::bool[]) as released (id, is_interrupted)
      where event_log.id = released.id`,
    [released.map(({ id }) => id), released.map(({ isInterrupted }) => isInterrupted)],
  );
}

/** Archives the events of removed triggers, so that they are not delivered any more. */
export async function archiveEvents(client: ClientBase, triggers: readonly string[]): Promise<void> {
  if (triggers.length === 0 || !(await hasLog(client))) return;
  await client.query(
    'update pergola.event_log set archived = true where trigger_name = any($1) and not archived',
    [triggers],
  );
}

/** Logs an event that an administrator invokes, and returns its ID. */
export async function logManualEvent(
  client: ClientBase,
  trigger: string,
  table: QualifiedName,
  { payload, session }: { readonly payload: unknown; readonly session: unknown },
): Promise<string> {
  await createLog(client);
  const { rows } = await client.query(
    `insert into pergola.event_log (trigger_name, schema_name, table_name, payload)
     values ($1, $2, $3, json_build_object('op', 'MANUAL', 'data', json_build_object('old', null, 'new', $4::json),
       'session_variables', $5::json, 'trace_context', null)) returning id::text`,
    [trigger, table.schema, table.name, JSON.stringify(payload), JSON.stringify(session)],
  );
  return rows[0].id;
}

/** Makes an event due again, as if it had never been attempted. An event that is being delivered is left unchanged. */
export async function resetEvent(client: ClientBase, id: string): Promise<'reset' | 'missing' | 'busy'> {
  if (!(await hasLog(client))) return 'missing';
  const { rows } = await client.query(
    'select locked is not null as busy from pergola.event_log where id = $1 and not archived for update',
    [id],
  );
  if (rows.length === 0) return 'missing';
  if (rows[0].busy) return 'busy';
  await client.query(
    `update pergola.event_log
        set delivered = false, error = false, tries = 0, next_retry_at = null where id = $1`,
    [id],
  );
  return 'reset';
}

/** A statement that reads the log. Each row has one column `row`, which is JSON text. */
export type LogQuery = { readonly text: string; readonly values: readonly unknown[] };

type LogPage = { readonly limit: number; readonly offset: number };

/** The events in each state. Those of a trigger that was removed are archived, whatever became of them. */
const IN_STATE = {
  pending: 'not archived and not (delivered or error)',
  processed: 'not archived and (delivered or error)',
  delivered: 'not archived and delivered',
  failed: 'not archived and error',
  archived: 'archived',
};

/** Returns the query for the events of a trigger in a state, newest first; without a state for all of them. */
export function eventsQuery(
  trigger: string,
  state: keyof typeof IN_STATE | undefined,
  { limit, offset }: LogPage,
): LogQuery {
  return {
    text: `select row_to_json(e)::text as row from pergola.event_log e
      where trigger_name = $1 and (${state ? IN_STATE[state] : 'true'})
      order by created_at desc, id limit $2 offset $3`,
    values: [trigger, limit, offset],
  };
}

/** Returns the query for one event. */
export function eventQuery(id: string): LogQuery {
  return { text: 'select row_to_json(e)::text as row from pergola.event_log e where id = $1', values: [id] };
}

/** Returns the query for the invocations of a trigger or of an event, newest first. */
export function invocationsQuery(
  column: 'trigger_name' | 'event_id',
  value: string,
  { limit, offset }: LogPage,
): LogQuery {
  return {
    text: `select row_to_json(e)::text as row from pergola.event_invocation_log e
      where ${column} = $1 order by created_at desc, id limit $2 offset $3`,
    values: [value, limit, offset],
  };
}

/** Reads the log. A source without a log has no events. */
export async function readLog(
  client: Pick<Database, 'query'> | ClientBase,
  { text, values }: LogQuery,
): Promise<readonly unknown[]> {
  if (!(await hasLog(client))) return [];
  const found: QueryResult = await client.query(text, [...values]);
  return found.rows.map(({ row }: { readonly row: string }) => parseJson(row));
}

/** Deletes events of a trigger that are done and old enough, in batches, so that no transaction takes long. Returns their number.
 *  Throws if a batch exceeds its timeout; the batches before it remain deleted. */
export async function cleanUp(database: Database, trigger: string, scope: CleanupScope): Promise<number> {
  if (!(await hasLog(database))) return 0;
  for (let deleted = 0; ; ) {
    const batch = await deleteBatch(database, trigger, scope);
    deleted += batch;
    if (batch < scope.batchSize) return deleted;
  }
}

function deleteBatch(
  database: Database,
  trigger: string,
  { olderThanHours, batchSize, timeoutSeconds, withInvocations }: CleanupScope,
): Promise<number> {
  return database.transaction({}, async (client) => {
    await client.query(`select set_config('statement_timeout', $1, true)`, [`${timeoutSeconds}s`]);
    const deleted = await client.query(
      `with done as (
         delete from pergola.event_log where id in (
           select id from pergola.event_log
            where trigger_name = $1 and (delivered or error or archived) and locked is null
              and created_at < now() - $2::float8 * interval '1 hour'
            limit $3 for update skip locked)
         returning id),
       invocations as (
         delete from pergola.event_invocation_log where $4::bool and event_id in (select id from done))
       select id from done`,
      [trigger, olderThanHours, batchSize, withInvocations],
    );
    return deleted.rowCount ?? 0;
  });
}
