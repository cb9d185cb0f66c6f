/** CronTrigger: a webhook that is called on a schedule.
 *  Not here: what is called (scheduled-call.ts), calls at one point in time (scheduled-event.ts). */
import { Type } from '@pergola/engine/metadata';
import { MetadataName } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { optional, required } from './mapping.ts';
import { SCHEDULED_CALL } from './scheduled-call.ts';

export const CronTriggerSpec = specOf({
  name: required('The name of the trigger in the engine. A new name replaces the trigger.', MetadataName),
  schedule: required(
    'When the webhook is called: a cron expression of five fields, for example "0 3 * * *", or a name such as @hourly.',
    Type.String({ minLength: 1, maxLength: 255 }),
  ),
  timeZone: optional(
    'The time zone of the schedule, for example Europe/Berlin. Absent: UTC.',
    Type.String({ minLength: 1, maxLength: 64 }),
    'timezone',
  ),
  ...SCHEDULED_CALL,
});
export const cronTrigger = kindRow({
  kind: 'CronTrigger',
  shortNames: ['gqlcr'],
  concerns: 'object',
  description: 'A webhook that is called on a schedule.',
  spec: CronTriggerSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  target: (spec) => `cron trigger ${spec.name}`,
  objects: [{ kind: 'cron_trigger', key: ['name'], members: () => ({ include_in_metadata: true }) }],
});
