/** CronTrigger: a webhook that is called on a schedule. */
import {
  type CronTrigger,
  type MetadataObject,
  objectKey,
  Seconds,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import {
  Comment,
  exactlyOne,
  immutable,
  MetadataName,
  OPEN_VALUE,
  Url,
  withDescription,
} from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf, type TranslateContext } from './kind.ts';
import { describeHeaders, FromEnv, Headers, headersOf, readValue, ValueFrom } from './old-value-source.ts';
import { Retry } from './retry.ts';
import { describeTransforms, TRANSFORMS, transformsOf } from './transform.ts';

const seconds = (description: string) => Type.Optional(withDescription(description, Seconds));

export const CronTriggerSpec = specOf(
  {
    name: MetadataName,
    schedule: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'A cron expression, in UTC or in timeZone.',
    }),
    timeZone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'A time zone such as Europe/Berlin; UTC when absent.',
      }),
    ),
    webhook: Type.Optional(withDescription('May contain environment variables: {{JOBS_URL}}/nightly.', Url)),
    webhookFromEnv: Type.Optional(FromEnv),
    webhookFrom: Type.Optional(ValueFrom),
    payload: Type.Optional(
      withDescription('Any JSON value, sent with each call.', Type.Unsafe<unknown>(OPEN_VALUE)),
    ),
    headers: Type.Optional(Headers),
    retry: Type.Optional(Retry),
    toleranceSeconds: seconds(
      'The most seconds that a call may be late, for example because the engine was stopped. Later calls are left out. Absent: 21600, six hours.',
    ),
    ...TRANSFORMS,
    comment: Type.Optional(Comment),
  },
  immutable('name', 'create a new CronTrigger object for another name'),
  exactlyOne('spec', 'webhook', 'webhookFromEnv', 'webhookFrom'),
);
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
  fieldPaths: () => [
    { at: 'spec.schedule', of: ['schedule'] },
    { at: 'spec.timeZone', of: ['timezone'] },
  ],
  describe: (inventory) => inventory.all('cron_trigger').map(describeTrigger),
});

function triggerObject(spec: CronTriggerSpec, context: TranslateContext): MetadataObject {
  const { name, schedule, timeZone, payload, retry, toleranceSeconds, comment } = spec;
  const value = { text: spec.webhook, env: spec.webhookFromEnv, from: spec.webhookFrom };
  const { text, env } = readValue(value, 'spec.webhookFrom', context);
  return {
    key: objectKey('cron_trigger', name),
    kind: 'cron_trigger',
    parent: null,
    definition: {
      name,
      webhook: env === undefined ? text : { from_env: env },
      schedule,
      timezone: timeZone,
      include_in_metadata: true,
      payload,
      headers: headersOf(spec.headers, context),
      retry_conf: retryConfOf(retry, toleranceSeconds),
      ...transformsOf(spec),
      comment,
    },
  };
}

function retryConfOf(retry: Retry | undefined, toleranceSeconds: number | undefined): object | undefined {
  if (!retry && toleranceSeconds === undefined) return undefined;
  return {
    num_retries: retry?.limit,
    retry_interval_seconds: retry?.intervalSeconds,
    timeout_seconds: retry?.timeoutSeconds,
    tolerance_seconds: toleranceSeconds,
  };
}

function describeTrigger({ definition }: MetadataObject): ResourceDraft {
  const trigger = definition as CronTrigger;
  const { name, schedule, timezone, webhook, payload, retry_conf: retry, comment } = trigger;
  return {
    name,
    spec: {
      name,
      schedule,
      timeZone: timezone,
      ...(typeof webhook === 'string' ? { webhook } : { webhookFromEnv: webhook.from_env }),
      payload,
      headers: describeHeaders(trigger.headers),
      retry: retry && {
        limit: retry.num_retries,
        intervalSeconds: retry.retry_interval_seconds,
        timeoutSeconds: retry.timeout_seconds,
      },
      toleranceSeconds: retry?.tolerance_seconds,
      ...describeTransforms(trigger),
      comment,
    },
  };
}
