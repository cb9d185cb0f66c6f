/** ScheduledEvent: a webhook that is called once, at a time.
 *  Not here: what is called (scheduled-call.ts), calls on a schedule (cron-trigger.ts), whether it was called (status/delivery.ts). */
import { Type } from '@pergola/engine/metadata';
import { MetadataName } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';
import { required } from './mapping.ts';
import { SCHEDULED_CALL } from './scheduled-call.ts';

export const ScheduledEventSpec = specOf({
  name: required(
    'The name of the event in the engine. Name and time identify the event: it is delivered once, and a new name or time is a new event.',
    MetadataName,
  ),
  scheduledAt: required(
    'When the webhook is called, for example "2026-01-31T12:00:00Z" (RFC 3339). A time in the past is due at once.',
    Type.String({
      maxLength: 40,
      pattern:
        '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})$',
    }),
    'schedule_at',
  ),
  ...SCHEDULED_CALL,
});
export const scheduledEvent = kindRow({
  kind: 'ScheduledEvent',
  shortNames: ['gqlse'],
  concerns: 'object',
  description: 'A webhook that is called once, at a time.',
  spec: ScheduledEventSpec,
  columns: [
    ...OBJECT_COLUMNS,
    {
      name: 'Delivered',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Delivered")].reason',
      description: 'Whether the webhook was called.',
      priority: 1,
    },
  ],
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  target: (spec) => `scheduled event ${spec.name}`,
  objects: [{ kind: 'scheduled_event', key: ['name'] }],
  delivery: ({ name, scheduledAt }) => ({ name, time: new Date(scheduledAt) }),
});
