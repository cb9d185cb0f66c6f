/** CronTrigger: a webhook that is called on a schedule.
 *  Not here: what is called (scheduled-call.ts), calls at one point in time (scheduled-event.ts). */
import {
  type CronTrigger,
  type MetadataObject,
  objectKey,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { MetadataName, withDescription } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf, type TranslateContext } from './kind.ts';
import { callOf, describeCall, SCHEDULED_CALL } from './scheduled-call.ts';
import { headerPaths } from './value-source.ts';

export const CronTriggerSpec = specOf({
  name: withDescription(
    'The name of the trigger in the engine. A new name replaces the trigger.',
    MetadataName,
  ),
  schedule: Type.String({
    minLength: 1,
    maxLength: 255,
    description:
      'When the webhook is called: a cron expression of five fields, for example "0 3 * * *", or a name such as @hourly.',
  }),
  timeZone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The time zone of the schedule, for example Europe/Berlin. Absent: UTC.',
    }),
  ),
  ...SCHEDULED_CALL,
});
type CronTriggerSpec = Static<typeof CronTriggerSpec>;

export const cronTrigger = kindRow({
  kind: 'CronTrigger',
  plural: 'crontriggers',
  singular: 'crontrigger',
  shortNames: ['gqlcr'],
  concerns: 'object',
  description: 'A webhook that is called on a schedule.',
  spec: CronTriggerSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `cron trigger ${spec.name}`,
  translate: (spec, context) => [triggerObject(spec, context)],
  fieldPaths: ({ headers }) => [
    { at: 'spec.schedule', of: ['schedule'] },
    { at: 'spec.timeZone', of: ['timezone'] },
    { at: 'spec.webhook', of: ['webhook'] },
    ...headerPaths(headers),
  ],
  describe: (inventory) => inventory.all('cron_trigger').map(describeTrigger),
});

function triggerObject(spec: CronTriggerSpec, context: TranslateContext): MetadataObject {
  const { name, schedule, timeZone } = spec;
  return {
    key: objectKey('cron_trigger', name),
    kind: 'cron_trigger',
    parent: null,
    definition: {
      name,
      schedule,
      timezone: timeZone,
      include_in_metadata: true,
      ...callOf(spec, context),
    },
  };
}

function describeTrigger({ definition }: MetadataObject): ResourceDraft {
  const { name, schedule, timezone: timeZone, ...call } = definition as CronTrigger;
  return { name, spec: { name, schedule, timeZone, ...describeCall(call) } };
}
