/** Creating event triggers, and operations on events: invoke, redeliver, list, clean up. A source without an event log has no events.
 *  Not here: event triggers in the document (change/handlers/triggers.ts), the log (events/event-log.ts), delivery (events/).
 *  Reference: docs/reference/behaviour/event-triggers.md. */
import { createEventTrigger } from '../change/handlers/triggers.ts';
import { boundedRead } from '../database/bounded-read.ts';
import { fail } from '../errors/engine-error.ts';
import {
  cleanUp,
  eventQuery,
  eventsQuery,
  invocationsQuery,
  isEventId,
  type LogQuery,
  logManualEvent,
  readLog,
  resetEvent,
} from '../events/event-log.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Source } from '../metadata/schema/source.ts';
import { cleanupScope } from '../resolve/event-trigger.ts';
import type { ResolvedEventTrigger } from '../resolve/model/event-trigger.ts';
import { withSqlErrors } from '../state/sql-failure.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import { type Performer, SUCCESS } from './request.ts';

const PAGE = 100;

/** Creates or replaces an event trigger. Raises `columnNotExists` besides the errors of `createEventTrigger`; the columns of payloads are
 *  checked afterwards, with the document. */
export const addEventTrigger: Performer<'create_event_trigger'> = async (work, args, { path }) => {
  const edited = createEventTrigger(work.metadata, args);
  const { model } = await work.resolution();
  const table = model.sources.get(args.source)?.tables.get(qualifiedKey(args.table));
  const watched = [args.insert, args.update, args.delete].flatMap((operation) => operation?.columns ?? []);
  const missing = watched.find((name) => name !== '*' && table?.columnByName.has(name) === false);
  if (missing !== undefined) fail('columnNotExists', { name: missing });
  work.edit(path, edited);
  return SUCCESS;
};

/** Raises `sourceNotFound`, `eventTriggerNotExists`, `eventTriggerNotManual`. */
export const invokeEventTrigger: Performer<'invoke_event_trigger'> = async (
  work,
  { source: name, name: trigger, payload },
  { caller: { session } },
) => {
  const source = work.requireSource(name);
  await work.addedInconsistencies();
  const { table, isManual } = await requireTrigger(work, name, trigger);
  if (!isManual) fail('eventTriggerNotManual', { name: trigger });
  const { client } = await work.transaction(source);
  const id = await logManualEvent(client, trigger, table, { payload, session: session.variables });
  return () => ({ event_id: id });
};

/** Raises `sourceNotFound`, `eventNotExists`, `eventBusy`. */
export const redeliverEvent: Performer<'redeliver_event'> = async (work, { source, event_id: id }) => {
  const { client } = await work.transaction(work.requireSource(source));
  const result = isEventId(id) ? await resetEvent(client, id) : 'missing';
  if (result === 'reset') return SUCCESS;
  return fail(result === 'busy' ? 'eventBusy' : 'eventNotExists', {});
};

/** Raises `sourceNotFound`, `eventTriggerNotExists`. */
export const getEventLogs: Performer<'get_event_logs'> = async (work, args) => {
  const { status, name, limit = PAGE, offset = 0 } = args;
  await requireTrigger(work, args.source, name);
  const rows = await read(
    work,
    work.requireSource(args.source),
    eventsQuery(name, status, { limit, offset }),
  );
  return () => rows;
};

/** Raises `sourceNotFound`, `eventTriggerNotExists`. */
export const getInvocationLogs: Performer<'get_event_invocation_logs'> = async (work, args) => {
  const { name, limit = PAGE, offset = 0 } = args;
  await requireTrigger(work, args.source, name);
  const query = invocationsQuery('trigger_name', name, { limit, offset });
  const rows = await read(work, work.requireSource(args.source), query);
  return () => rows;
};

/** Raises `sourceNotFound`, `eventIdNotExists`. */
export const getEvent: Performer<'get_event_by_id'> = async (work, args) => {
  const { event_id: id, invocation_log_limit: limit = PAGE, invocation_log_offset: offset = 0 } = args;
  const source = work.requireSource(args.source);
  const [event] = isEventId(id) ? await read(work, source, eventQuery(id)) : [];
  if (!event) return fail('eventIdNotExists', { id });
  const invocations = await read(work, source, invocationsQuery('event_id', id, { limit, offset }));
  return () => ({ event, invocations });
};

/** Raises `sourceNotFound`, `eventTriggerNotExists`, and `queryExecutionFailed` if a batch takes too long. */
export const cleanUpEvents: Performer<'cleanup_event_trigger_logs'> = async (work, args) => {
  const source = work.requireSource(args.source);
  const { name } = await requireTrigger(work, args.source, args.event_trigger_name);
  const database = work.database(source);
  await withSqlErrors('clean-up', () => cleanUp(database, name, cleanupScope(args)));
  return SUCCESS;
};

function read(work: UnitOfWork, source: Source, query: LogQuery): Promise<readonly unknown[]> {
  return withSqlErrors(query.text, () =>
    work.hasTransaction(source)
      ? readLog(work.reader(source), query)
      : boundedRead(work.database(source), (client) => readLog(client, query)),
  );
}

async function requireTrigger(work: UnitOfWork, source: string, name: string): Promise<ResolvedEventTrigger> {
  work.requireSource(source);
  const { model } = await work.resolution();
  const triggers = model.sources.get(source)?.eventTriggers;
  return triggers?.get(name) ?? fail('eventTriggerNotExists', { name });
}
