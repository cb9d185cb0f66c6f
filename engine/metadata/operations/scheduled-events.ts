/** Operations on cron triggers, one-off events and declared events. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { ObjectName } from '../schema/common.ts';
import { CronTrigger, DeclaredEvent, OneOffEvent } from '../schema/event.ts';
import { oneOf, Type } from '../schema/type.ts';
import { EventId, flag, page } from './arguments.ts';
import { type OperationDeclaration, row } from './row.ts';

const scheduledEventType = oneOf('cron', 'one_off', 'declared');

const ofScheduledEvents = {
  type: scheduledEventType,
  trigger_name: Type.Optional(ObjectName),
  ...page,
  get_rows_count: flag,
};

export const SCHEDULED_EVENT_OPERATIONS = {
  create_cron_trigger: row(
    'edit',
    'Creates a cron trigger, which calls a webhook on a schedule, or replaces it.',
    { ...CronTrigger.properties, replace: flag },
  ),
  delete_cron_trigger: row('edit', 'Deletes a cron trigger and its events that are not delivered yet.', {
    name: ObjectName,
  }),
  get_cron_triggers: row('read', 'Returns all cron triggers, with their defaults.', {}),
  create_scheduled_event: row('database', 'Schedules one call of a webhook.', {
    ...OneOffEvent.properties,
    schedule_at: Type.String({ minLength: 1 }),
  }),
  delete_scheduled_event: row('database', 'Deletes a scheduled event and its invocation logs.', {
    type: scheduledEventType,
    event_id: EventId,
  }),
  declare_scheduled_event: row(
    'edit',
    'Declares an event in the metadata, which calls a webhook once, or replaces its declaration.',
    { ...DeclaredEvent.properties, replace: flag },
  ),
  undeclare_scheduled_event: row(
    'edit',
    'Removes the declaration of an event. An event that is not delivered yet is deleted.',
    { name: ObjectName },
  ),
  get_scheduled_events: row(
    'read',
    'Returns events of cron triggers, one-off events or declared events, by time. `due_only` leaves out those whose time has not come.',
    {
      ...ofScheduledEvents,
      newest_first: flag,
      due_only: flag,
      status: Type.Optional(Type.Array(oneOf('scheduled', 'locked', 'delivered', 'error', 'dead'))),
    },
  ),
  get_scheduled_event_invocations: row(
    'read',
    'Returns requests for scheduled events and their responses, newest first.',
    { ...ofScheduledEvents, event_id: Type.Optional(EventId) },
  ),
} as const satisfies Record<string, OperationDeclaration>;
