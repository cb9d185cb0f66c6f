/** Operations on scheduled events: create, delete, list. Also lists cron triggers with their defaults.
 *  Not here: cron triggers and declared events in the document (change/handlers/triggers.ts), rows (events/scheduled-log.ts), delivery (events/).
 *  Reference: docs/reference/behaviour/scheduled-triggers.md. */
import { randomUUID } from 'node:crypto';
import { fail } from '../errors/engine-error.ts';
import { isEventId } from '../events/event-log.ts';
import {
  deleteScheduled,
  hasScheduled,
  insertOneOff,
  listInvocations,
  listScheduled,
  type ScheduledPage,
} from '../events/scheduled-log.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { OneOffEvent } from '../metadata/schema/event.ts';
import { variablesIn } from '../metadata/variables.ts';
import { RETRY_DEFAULTS } from '../resolve/cron-trigger.ts';
import { VariableRules } from '../resolve/environment-variables.ts';
import { parseTime } from '../resolve/schedule.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import { type Performer, SUCCESS } from './request.ts';

export const getCronTriggers: Performer<'get_cron_triggers'> = (work) => {
  const triggers = (work.metadata.cron_triggers ?? []).map((trigger) => ({
    ...trigger,
    headers: trigger.headers ?? [],
    retry_conf: { ...RETRY_DEFAULTS, ...trigger.retry_conf },
  }));
  return () => ({ cron_triggers: triggers });
};

/** Raises `invalidConfiguration` for variables that must not be sent, `timeInvalid`. */
export const createScheduledEvent: Performer<'create_scheduled_event'> = async (
  work,
  { schedule_at: at, ...event },
) => {
  const fault = new VariableRules(work.metadata, work.gateway.env, work.gateway.references).firstFault(
    variablesIn(OneOffEvent, event),
  );
  if (fault) throw fault;
  const time = parseTime(at).toISOString();
  const definition = { ...event, retry_conf: { ...RETRY_DEFAULTS, ...event.retry_conf } };
  const id = randomUUID();
  work.afterCommit.push(async () => {
    await insertOneOff(work.gateway.metadataDatabase, { id, time, definition });
  });
  return () => ({ message: 'success', event_id: id });
};

/** Raises `eventNotExists`. */
export const deleteScheduledEvent: Performer<'delete_scheduled_event'> = async (
  work,
  { type, event_id: id },
) => {
  const { metadataDatabase: database } = work.gateway;
  if (!isEventId(id) || !(await hasScheduled(database, id, type))) fail('eventNotExists', {});
  work.afterCommit.push(async () => {
    await deleteScheduled(database, id);
  });
  return SUCCESS;
};

/** Raises `parseFailed` for cron events without a cron trigger, `cronTriggerNotExists`. */
export const getScheduledEvents: Performer<'get_scheduled_events'> = async (work, args) => {
  const { type, status: statuses = [] } = args;
  const isNewestFirst = args.newest_first ?? false;
  const isDue = args.due_only ?? false;
  const wanted = { type, trigger: triggerOf(work, args), statuses, isNewestFirst, isDue };
  const { rows: events, ...count } = await listScheduled(work.gateway.metadataDatabase, wanted, pageOf(args));
  return () => ({ events, ...count });
};

/** Raises `parseFailed` for cron events with neither an event nor a cron trigger, `cronTriggerNotExists`. */
export const getScheduledEventInvocations: Performer<'get_scheduled_event_invocations'> = async (
  work,
  args,
) => {
  const { type, event_id: event } = args;
  const wanted =
    event === undefined
      ? { type, trigger: triggerOf(work, args), event: null }
      : { type, trigger: null, event: isEventId(event) ? event : NO_EVENT };
  const { rows: invocations, ...count } = await listInvocations(
    work.gateway.metadataDatabase,
    wanted,
    pageOf(args),
  );
  return () => ({ invocations, ...count });
};

type PageArgs = Pick<
  ArgsOf<'get_scheduled_events'>,
  'type' | 'trigger_name' | 'limit' | 'offset' | 'get_rows_count'
>;

/** The id of no event. RFC 9562, "Nil UUID". */
const NO_EVENT = '00000000-0000-0000-0000-000000000000';

/** Returns the cron trigger of the arguments, or the name of declared events, which may be absent. One-off events have no trigger, so
 *  their `trigger_name` is ignored. */
function triggerOf(work: UnitOfWork, { type, trigger_name: name }: PageArgs): string | null {
  if (type === 'one_off') return null;
  if (type === 'declared') return name ?? null;
  if (name === undefined) fail('parseFailed', { text: "the key 'trigger_name' was not present" });
  const isKnown = work.metadata.cron_triggers?.some((trigger) => trigger.name === name);
  return isKnown ? name : fail('cronTriggerNotExists', { name });
}

function pageOf({ limit, offset, get_rows_count: isCounted }: PageArgs): ScheduledPage {
  return { limit, offset, isCounted };
}
