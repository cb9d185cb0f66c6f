/** Operations on scheduled events: made for a time, forgotten, read, and cron triggers as they are meant.
 *  Not here: cron triggers in the document (handlers/triggers.ts), telling webhooks (events/).
 *  Reference: docs/reference/behaviour/scheduled-triggers.md. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { fail } from '../errors/engine-error.ts';
import { isoTimestampSql } from '../events/scheduled-log.ts';
import { parseJson } from '../json/parse-json.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { OneOffEvent } from '../metadata/schema/event.ts';
import { variablesIn } from '../metadata/variables.ts';
import { RETRY_DEFAULTS } from '../resolve/cron-trigger.ts';
import { VariableRules } from '../resolve/environment-variables.ts';
import { type AdminAnswer, SUCCESS } from './request.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export function getCronTriggers(work: UnitOfWork): AdminAnswer {
  const triggers = (work.metadata.cron_triggers ?? []).map((trigger) => ({
    ...trigger,
    headers: trigger.headers ?? [],
    retry_conf: { ...RETRY_DEFAULTS, ...trigger.retry_conf },
  }));
  return () => ({ cron_triggers: triggers });
}

/** Raises `invalidConfiguration` for variables that cannot be sent, `parseFailed` for what is no time. */
export async function createScheduledEvent(
  work: UnitOfWork,
  { schedule_at: at, ...event }: ArgsOf<'create_scheduled_event'>,
): Promise<AdminAnswer> {
  const fault = new VariableRules(work.metadata, work.gateway.env).firstFault(
    variablesIn(OneOffEvent, event),
  );
  if (fault) throw fault;
  const time = await timeOf(work, at);
  const definition = { ...event, retry_conf: { ...RETRY_DEFAULTS, ...event.retry_conf } };
  const id = randomUUID();
  work.afterCommit.push(async () => {
    await work.gateway.metadataDatabase.query(
      `insert into pergola.scheduled_event (id, type, scheduled_time, definition) values ($1, 'one_off', $2, $3)`,
      [id, time, JSON.stringify(definition)],
    );
  });
  return () => ({ message: 'success', event_id: id });
}

/** Raises `eventNotExists`. */
export async function deleteScheduledEvent(
  work: UnitOfWork,
  { type, event_id: id }: ArgsOf<'delete_scheduled_event'>,
): Promise<AdminAnswer> {
  const { metadataDatabase: database } = work.gateway;
  const found = await database.query('select from pergola.scheduled_event where id = $1 and type = $2', [
    id,
    type,
  ]);
  if (found.rowCount === 0) fail('eventNotExists', {});
  work.afterCommit.push(async () => {
    await database.query('delete from pergola.scheduled_event where id = $1', [id]);
  });
  return SUCCESS;
}

/** What is shown of an event: the times first are the same of both kinds. */
const COLUMNS = `'id', id, 'scheduled_time', ${isoTimestampSql('scheduled_time')}, 'status', status, 'tries', tries,
  'created_at', ${isoTimestampSql('created_at')}, 'next_retry_at', ${isoTimestampSql('next_retry_at')}`;
const SHOWN = {
  cron: `json_build_object(${COLUMNS}, 'trigger_name', trigger_name)`,
  one_off: `json_build_object(${COLUMNS}, 'webhook_conf', definition -> 'webhook',
    'payload', definition -> 'payload', 'header_conf', coalesce(definition -> 'headers', '[]'),
    'retry_conf', definition -> 'retry_conf', 'comment', definition -> 'comment',
    'request_transform', definition -> 'request_transform', 'response_transform', definition -> 'response_transform')`,
} as const;

/** Raises `parseFailed` without the cron trigger of cron events. */
export async function getScheduledEvents(
  work: UnitOfWork,
  args: ArgsOf<'get_scheduled_events'>,
): Promise<AdminAnswer> {
  const { type, status = [] } = args;
  const [events, count] = await page(work, args, {
    from: `pergola.scheduled_event where type = $1 and ($2::text is null or trigger_name = $2)
             and (cardinality($3::text[]) = 0 or status = any($3))`,
    shown: SHOWN[type],
    order: 'scheduled_time, id',
    values: [type, triggerOf(args), status],
  });
  return () => ({ events, ...count });
}

/** Raises `parseFailed` with neither an event nor the cron trigger of cron events. */
export async function getScheduledEventInvocations(
  work: UnitOfWork,
  args: ArgsOf<'get_scheduled_event_invocations'>,
): Promise<AdminAnswer> {
  const { type, event_id: event } = args;
  const [invocations, count] = await page(work, args, {
    from: `pergola.scheduled_event_invocation i join pergola.scheduled_event e on e.id = event_id
            where type = $1 and ($2::text is null or trigger_name = $2) and ($3::uuid is null or event_id = $3)`,
    shown: `json_build_object('id', i.id, 'event_id', event_id, 'status', i.status, 'request', request,
              'response', response, 'created_at', ${isoTimestampSql('i.created_at')})`,
    order: 'i.created_at desc, i.id',
    values: [type, event === undefined ? triggerOf(args) : null, event ?? null],
  });
  return () => ({ invocations, ...count });
}

type PageArgs = Pick<
  ArgsOf<'get_scheduled_events'>,
  'type' | 'trigger_name' | 'limit' | 'offset' | 'get_rows_count'
>;

/** Events that happen once have no trigger, whatever is said. */
function triggerOf({ type, trigger_name: name }: PageArgs): string | null {
  if (type === 'one_off') return null;
  return name ?? fail('parseFailed', { text: "the key 'trigger_name' was not present" });
}

/** The rows asked for, and how many there are in all where that is asked, too. */
async function page(
  work: UnitOfWork,
  { limit, offset, get_rows_count: isCounted }: PageArgs,
  listed: {
    readonly from: string;
    readonly shown: string;
    readonly order: string;
    readonly values: readonly unknown[];
  },
): Promise<readonly [readonly unknown[], { readonly count?: number }]> {
  const { from, shown, order, values } = listed;
  const { metadataDatabase: database } = work.gateway;
  const found = await database.query(
    `select (${shown})::text as row from ${from} order by ${order} limit $4 offset $5`,
    [...values, limit ?? null, offset ?? 0],
  );
  const rows = found.rows.map(({ row }: { readonly row: string }) => parseJson(row));
  if (!isCounted) return [rows, {}];
  const counted = await database.query(`select count(*)::int as count from ${from}`, values);
  return [rows, { count: counted.rows[0].count }];
}

/** ISO 8601, with its offset from UTC: nobody should have to know the time zone of the server. */
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d(:?\d\d)?)$/i;

/** As Postgres reads it. */
async function timeOf({ gateway: ground }: UnitOfWork, text: string): Promise<string> {
  const refused = { text: `"${text}" is not a time such as 2026-01-31T12:00:00Z` };
  if (!TIME.test(text)) fail('parseFailed', refused, { path: ['schedule_at'] });
  try {
    const read = await ground.metadataDatabase.query('select $1::timestamptz::text as time', [text]);
    return read.rows[0].time;
  } catch (error) {
    const isOutOfRange = error instanceof pg.DatabaseError && error.code?.startsWith('22');
    return isOutOfRange ? fail('parseFailed', refused, { path: ['schedule_at'] }) : Promise.reject(error);
  }
}
