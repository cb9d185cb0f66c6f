/** Operations on events: invoke, redeliver, list, clean up. A source without an event log has no events.
 *  Not here: event triggers in the document (handlers/triggers.ts), the log (events/event-log.ts), delivery (events/).
 *  Reference: docs/reference/behaviour/event-triggers.md. */
import { fail } from '../errors/engine-error.ts';
import {
  cleanUp,
  eventQuery,
  eventsQuery,
  invocationsQuery,
  type LogQuery,
  logManualEvent,
  readLog,
  resetEvent,
} from '../events/event-log.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import type { Source } from '../metadata/schema/source.ts';
import { cleanupScope } from '../resolve/event-trigger.ts';
import type { ResolvedEventTrigger } from '../resolve/types.ts';
import { type AdminAnswer, type AdminRequest, SUCCESS } from './request.ts';
import { refusingSql } from './sql-failure.ts';
import type { UnitOfWork } from './unit-of-work.ts';

const PAGE = 100;

/** Raises `sourceNotFound`, `eventTriggerNotExists`, `eventTriggerNotManual`. */
export async function invokeEventTrigger(
  work: UnitOfWork,
  { source: name, name: trigger, payload }: ArgsOf<'invoke_event_trigger'>,
  { caller: { session } }: AdminRequest,
): Promise<AdminAnswer> {
  const source = work.requireSource(name);
  await work.addedInconsistencies();
  const { table, isManual } = requireTrigger(work, name, trigger);
  if (!isManual) fail('eventTriggerNotManual', { name: trigger });
  const { client } = await work.transaction(source);
  const id = await logManualEvent(client, trigger, table, { payload, session: session.variables });
  return () => ({ event_id: id });
}

/** Raises `sourceNotFound`, `eventNotExists`, `eventBusy`. */
export async function redeliverEvent(
  work: UnitOfWork,
  { source, event_id: id }: ArgsOf<'redeliver_event'>,
): Promise<AdminAnswer> {
  const { client } = await work.transaction(work.requireSource(source));
  const result = await resetEvent(client, id);
  if (result === 'reset') return SUCCESS;
  return fail(result === 'busy' ? 'eventBusy' : 'eventNotExists', {});
}

export async function getEventLogs(work: UnitOfWork, args: ArgsOf<'get_event_logs'>): Promise<AdminAnswer> {
  const { status, name, limit = PAGE, offset = 0 } = args;
  const isProcessed = status === undefined ? null : status === 'processed';
  const rows = await read(
    work,
    work.requireSource(args.source),
    eventsQuery(name, isProcessed, { limit, offset }),
  );
  return () => rows;
}

export async function getInvocationLogs(
  work: UnitOfWork,
  args: ArgsOf<'get_event_invocation_logs'>,
): Promise<AdminAnswer> {
  const { name, limit = PAGE, offset = 0 } = args;
  const query = invocationsQuery('trigger_name', name, { limit, offset });
  const rows = await read(work, work.requireSource(args.source), query);
  return () => rows;
}

/** Raises `sourceNotFound`, `eventNotExists`. */
export async function getEvent(work: UnitOfWork, args: ArgsOf<'get_event_by_id'>): Promise<AdminAnswer> {
  const { event_id: id, invocation_log_limit: limit = PAGE, invocation_log_offset: offset = 0 } = args;
  const source = work.requireSource(args.source);
  const [event] = await read(work, source, eventQuery(id));
  if (!event) return fail('eventNotExists', {});
  const invocations = await read(work, source, invocationsQuery('event_id', id, { limit, offset }));
  return () => ({ event, invocations });
}

/** Raises `sourceNotFound`, `eventTriggerNotExists`, and `queryExecutionFailed` if a batch takes too long. */
export async function cleanUpEvents(
  work: UnitOfWork,
  args: ArgsOf<'cleanup_event_trigger_logs'>,
): Promise<AdminAnswer> {
  const source = work.requireSource(args.source);
  const { name } = requireTrigger(work, args.source, args.event_trigger_name);
  const database = work.gateway.database(source);
  await refusingSql({ source: source.name, statement: 'clean-up' }, () =>
    cleanUp(database, name, cleanupScope(args)),
  );
  return SUCCESS;
}

function read(work: UnitOfWork, source: Source, query: LogQuery): Promise<readonly unknown[]> {
  return refusingSql({ source: source.name, statement: query.text }, () =>
    readLog(work.gateway.database(source), query),
  );
}

function requireTrigger(work: UnitOfWork, source: string, name: string): ResolvedEventTrigger {
  const triggers = work.resolution().model.sources.get(source)?.eventTriggers;
  return triggers?.get(name) ?? fail('eventTriggerNotExists', { name });
}
