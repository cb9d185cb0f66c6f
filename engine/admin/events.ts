/** Operations on events: made by hand, told again, read, cleaned up. Of a source that has no log there are none.
 *  Not here: event triggers (handlers/triggers.ts), telling webhooks (events/). Reference: docs/reference/behaviour/event-triggers.md. */
import { fail } from '../errors/engine-error.ts';
import { createLog, hasLog } from '../events/capture.ts';
import { cleanUp } from '../events/cleanup.ts';
import { parseJson } from '../json/parse-json.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import type { Source } from '../metadata/schema/source.ts';
import { cleanupScope } from '../resolve/event-trigger.ts';
import type { ResolvedEventTrigger } from '../resolve/types.ts';
import type { AdminRequest } from './request.ts';
import { type AdminAnswer, SUCCESS } from './request.ts';
import { refusingSql } from './sql-failure.ts';
import type { UnitOfWork } from './unit-of-work.ts';

const PAGE = 100;

/** Raises `sourceNotFound`, `eventTriggerNotExists`, `eventTriggerNotManual`. */
export async function invokeEventTrigger(
  work: UnitOfWork,
  { source: name, name: trigger, payload }: ArgsOf<'invoke_event_trigger'>,
  { caller: { session } }: AdminRequest,
): Promise<AdminAnswer> {
  const source = requireSource(work, name);
  await work.addedInconsistencies();
  const { table, isManual } = requireTrigger(work, name, trigger);
  if (!isManual) fail('eventTriggerNotManual', { name: trigger });
  const { client } = await work.transaction(source);
  await createLog(client);
  const made = await client.query(
    `insert into pergola.event_log (trigger_name, schema_name, table_name, payload)
     values ($1, $2, $3, json_build_object('op', 'MANUAL', 'data', json_build_object('old', null, 'new', $4::json),
       'session_variables', $5::json, 'trace_context', null)) returning id::text`,
    [trigger, table.schema, table.name, JSON.stringify(payload), JSON.stringify(session.variables)],
  );
  const body = { event_id: made.rows[0].id };
  return () => body;
}

/** Raises `sourceNotFound`, `eventNotExists`, `eventBusy`. */
export async function redeliverEvent(
  work: UnitOfWork,
  { source: name, event_id: id }: ArgsOf<'redeliver_event'>,
): Promise<AdminAnswer> {
  const { client } = await work.transaction(requireSource(work, name));
  if (!(await hasLog(client))) fail('eventNotExists', {});
  const found = await client.query(
    'select locked is not null as busy from pergola.event_log where id = $1 and not archived for update',
    [id],
  );
  if (found.rows.length === 0) fail('eventNotExists', {});
  if (found.rows[0].busy) fail('eventBusy', {});
  await client.query(
    `update pergola.event_log
        set delivered = false, error = false, tries = 0, next_retry_at = null where id = $1`,
    [id],
  );
  return SUCCESS;
}

export function getEventLogs(work: UnitOfWork, args: ArgsOf<'get_event_logs'>): Promise<AdminAnswer> {
  const { status, name, limit = PAGE, offset = 0 } = args;
  return listed(work, args.source, [
    `select row_to_json(e)::text as row from pergola.event_log e
      where trigger_name = $1 and not archived
        and ($2::bool is null or (delivered or error) = $2)
      order by created_at desc, id limit $3 offset $4`,
    [name, status === undefined ? null : status === 'processed', limit, offset],
  ]);
}

export function getInvocationLogs(
  work: UnitOfWork,
  args: ArgsOf<'get_event_invocation_logs'>,
): Promise<AdminAnswer> {
  const { name, limit = PAGE, offset = 0 } = args;
  return listed(work, args.source, [
    `select row_to_json(e)::text as row from pergola.event_invocation_log e
      where trigger_name = $1 order by created_at desc, id limit $2 offset $3`,
    [name, limit, offset],
  ]);
}

/** Raises `sourceNotFound`, `eventNotExists`. */
export async function getEvent(work: UnitOfWork, args: ArgsOf<'get_event_by_id'>): Promise<AdminAnswer> {
  const { event_id: id, invocation_log_limit: limit = PAGE, invocation_log_offset: offset = 0 } = args;
  const source = requireSource(work, args.source);
  const [event] = await rowsOf(work, source, [
    'select row_to_json(e)::text as row from pergola.event_log e where id = $1',
    [id],
  ]);
  if (!event) return fail('eventNotExists', {});
  const invocations = await rowsOf(work, source, [
    `select row_to_json(e)::text as row from pergola.event_invocation_log e
      where event_id = $1 order by created_at desc, id limit $2 offset $3`,
    [id, limit, offset],
  ]);
  return () => ({ event, invocations });
}

/** Raises `sourceNotFound`, `eventTriggerNotExists`, `queryExecutionFailed` when a batch takes too long. */
export async function cleanUpEvents(
  work: UnitOfWork,
  args: ArgsOf<'cleanup_event_trigger_logs'>,
): Promise<AdminAnswer> {
  const source = requireSource(work, args.source);
  const { name } = requireTrigger(work, args.source, args.event_trigger_name);
  const database = work.gateway.database(source);
  await refusingSql({ source: source.name, statement: 'clean-up' }, () =>
    cleanUp(database, name, cleanupScope(args)),
  );
  return SUCCESS;
}

type Question = readonly [text: string, values: readonly unknown[]];

async function listed(work: UnitOfWork, name: string, question: Question): Promise<AdminAnswer> {
  const rows = await rowsOf(work, requireSource(work, name), question);
  return () => rows;
}

async function rowsOf(
  work: UnitOfWork,
  source: Source,
  [text, values]: Question,
): Promise<readonly unknown[]> {
  const database = work.gateway.database(source);
  return refusingSql({ source: source.name, statement: text }, async () => {
    if (!(await hasLog(database))) return [];
    const found = await database.query(text, values);
    return found.rows.map(({ row }: { readonly row: string }) => parseJson(row));
  });
}

function requireSource(work: UnitOfWork, name: string): Source {
  return work.source(name) ?? fail('sourceNotFound', { source: name });
}

function requireTrigger(work: UnitOfWork, source: string, name: string): ResolvedEventTrigger {
  const triggers = work.resolution().model.sources.get(source)?.eventTriggers;
  return triggers?.get(name) ?? fail('eventTriggerNotExists', { name });
}
