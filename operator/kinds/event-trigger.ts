/** EventTrigger: calls a webhook when rows of a table change. It is separate from Table: the receiving application owns it. */
import {
  AtLeastOne,
  type EventTrigger,
  Hours,
  type MetadataObject,
  objectKey,
  parseKey,
  Seconds,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import {
  closed,
  exactlyOne,
  Identifier,
  MetadataName,
  plainList,
  type Rule,
  Url,
  withDescription,
} from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf, type TranslateContext } from './kind.ts';
import { describeHeaders, FromEnv, Headers, headersOf, readValue, ValueFrom } from './old-value-source.ts';
import { Retry } from './retry.ts';
import {
  describeSource,
  describeTableName,
  printTarget,
  sourceField,
  sourceNamed,
  tableFields,
  tableNamed,
} from './table-name.ts';
import { describeTransforms, TRANSFORMS, transformsOf } from './transform.ts';

const Columns = plainList(Identifier);
const Operation = closed({
  columns: withDescription('Columns whose changes fire the trigger; ["*"] means all.', Columns),
  payload: Type.Optional(withDescription('Columns that are sent. The default is all.', Columns)),
});
type Operation = Static<typeof Operation>;

const seconds = (description: string) => Type.Optional(withDescription(description, Seconds));

const Cleanup = closed({
  schedule: Type.String({ maxLength: 255, description: 'A cron expression.' }),
  clearOlderThanHours: Hours,
  batchSize: Type.Optional(AtLeastOne),
  timeoutSeconds: seconds('Of one batch.'),
  cleanInvocationLogs: Type.Optional(Type.Boolean()),
  paused: Type.Optional(Type.Boolean()),
});

const SOME_EVENT: Rule = {
  rule: 'has(self.insert) || has(self.update) || has(self.delete) || (has(self.enableManual) && self.enableManual)',
  message:
    'spec: an event trigger without insert, update, delete and enableManual never fires; add an operation',
  holds: (spec) => 'insert' in spec || 'update' in spec || 'delete' in spec || spec.enableManual === true,
};

export const EventTriggerSpec = specOf(
  {
    source: sourceField('the table'),
    ...tableFields('The name of the table in the database.'),
    name: MetadataName,
    insert: Type.Optional(Operation),
    update: Type.Optional(Operation),
    delete: Type.Optional(Operation),
    enableManual: Type.Optional(Type.Boolean({ description: 'Allows manual invocations.' })),
    triggerOnReplication: Type.Optional(
      Type.Boolean({ description: 'Fires for replicated changes as well.' }),
    ),
    webhook: Type.Optional(withDescription('May contain environment variables: {{JOBS_URL}}/indexed.', Url)),
    webhookFromEnv: Type.Optional(FromEnv),
    webhookFrom: Type.Optional(ValueFrom),
    headers: Type.Optional(Headers),
    retry: Type.Optional(Retry),
    ...TRANSFORMS,
    cleanup: Type.Optional(withDescription('When old events are deleted from the log.', Cleanup)),
  },
  exactlyOne('spec', 'webhook', 'webhookFromEnv', 'webhookFrom'),
  SOME_EVENT,
);
type EventTriggerSpec = Static<typeof EventTriggerSpec>;

export const eventTrigger = kindRow({
  kind: 'EventTrigger',
  plural: 'eventtriggers',
  singular: 'eventtrigger',
  shortNames: ['gqlet'],
  concerns: 'object',
  description: 'A webhook that is called when rows of a table change.',
  spec: EventTriggerSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.source', '.spec.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `event trigger ${spec.name} of ${printTarget(spec.source, tableNamed(spec))}`,
  translate: (spec, context) => [triggerObject(spec, context)],
  describe: (inventory) => inventory.all('event_trigger').map(describeTrigger),
});

function triggerObject(spec: EventTriggerSpec, context: TranslateContext): MetadataObject {
  const { name, retry, cleanup } = spec;
  const [source, table] = [sourceNamed(spec.source), tableNamed(spec)];
  const value = { text: spec.webhook, env: spec.webhookFromEnv, from: spec.webhookFrom };
  const webhook = readValue(value, 'spec.webhookFrom', context);
  return {
    key: objectKey('event_trigger', source, table.schema, table.name, name),
    kind: 'event_trigger',
    parent: objectKey('table', source, table.schema, table.name),
    definition: {
      name,
      definition: {
        insert: spec.insert && operationOf(spec.insert),
        update: spec.update && operationOf(spec.update),
        delete: spec.delete && operationOf(spec.delete),
        enable_manual: spec.enableManual,
      },
      retry_conf: retry && {
        num_retries: retry.limit,
        interval_sec: retry.intervalSeconds,
        timeout_sec: retry.timeoutSeconds,
      },
      webhook: webhook.text,
      webhook_from_env: webhook.env,
      headers: headersOf(spec.headers, context),
      ...transformsOf(spec),
      cleanup_config: cleanup && {
        schedule: cleanup.schedule,
        clear_older_than: cleanup.clearOlderThanHours,
        batch_size: cleanup.batchSize,
        timeout: cleanup.timeoutSeconds,
        clean_invocation_logs: cleanup.cleanInvocationLogs,
        paused: cleanup.paused,
      },
      trigger_on_replication: spec.triggerOnReplication,
    },
  };
}

function describeTrigger({ key, definition: given }: MetadataObject): ResourceDraft {
  const trigger = given as EventTrigger;
  const { name, definition, retry_conf: retry, cleanup_config: cleanup } = trigger;
  const [source = '', schema = '', table = ''] = parseKey(key)?.segments ?? [];
  const operation = (of: 'insert' | 'update' | 'delete') =>
    definition[of] && describeOperation(definition[of]);
  return {
    name,
    spec: {
      ...describeSource(source),
      ...describeTableName({ schema, name: table }),
      name,
      insert: operation('insert'),
      update: operation('update'),
      delete: operation('delete'),
      enableManual: definition.enable_manual,
      triggerOnReplication: trigger.trigger_on_replication,
      webhook: trigger.webhook,
      webhookFromEnv: trigger.webhook_from_env,
      headers: describeHeaders(trigger.headers),
      retry: retry && {
        limit: retry.num_retries,
        intervalSeconds: retry.interval_sec,
        timeoutSeconds: retry.timeout_sec,
      },
      ...describeTransforms(trigger),
      cleanup: cleanup && {
        schedule: cleanup.schedule,
        clearOlderThanHours: cleanup.clear_older_than,
        batchSize: cleanup.batch_size,
        timeoutSeconds: cleanup.timeout,
        cleanInvocationLogs: cleanup.clean_invocation_logs,
        paused: cleanup.paused,
      },
    },
  };
}

function operationOf({ columns, payload }: Operation): unknown {
  const all = (list: readonly string[] | undefined) => (list?.length === 1 && list[0] === '*' ? '*' : list);
  return { columns: all(columns), payload: all(payload) };
}

function describeOperation({ columns, payload }: NonNullable<EventTrigger['definition']['insert']>): object {
  const list = (given: typeof payload) => (given === '*' ? ['*'] : given);
  return { columns: list(columns), payload: list(payload) };
}
