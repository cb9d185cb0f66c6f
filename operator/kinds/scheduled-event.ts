/** ScheduledEvent: a webhook that is called once, at a time.
 *  Not here: what is called (scheduled-call.ts), calls on a schedule (cron-trigger.ts), whether it was called (status/delivery.ts). */
import {
  type DeclaredEvent,
  type MetadataObject,
  objectKey,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { MetadataName, withDescription } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf, type TranslateContext } from './kind.ts';
import { callOf, describeCall, SCHEDULED_CALL } from './scheduled-call.ts';
import { headerPaths } from './value-source.ts';

export const ScheduledEventSpec = specOf({
  name: withDescription(
    'The name of the event in the engine. Name and time identify the event: it is delivered once, and a new name or time is a new event.',
    MetadataName,
  ),
  scheduledAt: Type.String({
    maxLength: 40,
    pattern:
      '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})$',
    description:
      'When the webhook is called, for example "2026-01-31T12:00:00Z" (RFC 3339). A time in the past is due at once.',
  }),
  ...SCHEDULED_CALL,
});
type ScheduledEventSpec = Static<typeof ScheduledEventSpec>;

export const scheduledEvent = kindRow({
  kind: 'ScheduledEvent',
  plural: 'scheduledevents',
  singular: 'scheduledevent',
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
  deletionPolicy: 'Delete',
  target: (spec) => `scheduled event ${spec.name}`,
  translate: (spec, context) => [eventObject(spec, context)],
  fieldPaths: ({ headers }) => [
    { at: 'spec.scheduledAt', of: ['schedule_at'] },
    { at: 'spec.webhook', of: ['webhook'] },
    ...headerPaths(headers),
  ],
  describe: (inventory) => inventory.all('scheduled_event').map(describeEvent),
  delivery: ({ name, scheduledAt }) => ({ name, time: new Date(scheduledAt) }),
});

function eventObject(spec: ScheduledEventSpec, context: TranslateContext): MetadataObject {
  const { name, scheduledAt } = spec;
  return {
    key: objectKey('scheduled_event', name),
    kind: 'scheduled_event',
    parent: null,
    definition: { name, schedule_at: scheduledAt, ...callOf(spec, context) },
  };
}

function describeEvent({ definition }: MetadataObject): ResourceDraft {
  const { name, schedule_at: scheduledAt, ...call } = definition as DeclaredEvent;
  return { name, spec: { name, scheduledAt, ...describeCall(call) } };
}
