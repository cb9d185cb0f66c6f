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
import { closed, Identifier, plainList, type Rule, withDescription } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf, type TranslateContext } from './kind.ts';
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
import {
  describeField,
  describeHeaders,
  fieldOf,
  Headers,
  headerPaths,
  headersOf,
  readValue,
  urlSource,
} from './value-source.ts';

const Columns = { ...plainList(Identifier), minItems: 1 };

/** The engine makes names of functions of it. */
const TriggerName = Type.String({ minLength: 1, maxLength: 42, pattern: '^[A-Za-z][A-Za-z0-9_-]*$' });

const Payload = Type.Optional(
  withDescription(
    'Columns whose values are sent to the webhook. Absent or ["*"]: all.',
    plainList(Identifier),
  ),
);
const isAll = (columns: readonly string[] | undefined) =>
  columns === undefined || (columns.length === 1 && columns[0] === '*');
/** The engine refuses such an operation, as the reference does. */
const SOME_PAYLOAD: Rule = {
  rule:
    '!has(self.payload) || size(self.payload) > 0 || ' +
    "(has(self.columns) && !(size(self.columns) == 1 && self.columns[0] == '*'))",
  message: 'an empty payload needs a list of columns; add columns, or remove payload',
  holds: ({ columns, payload }) => payload?.length !== 0 || !isAll(columns),
};
/** Inserts and deletes. Their columns have no effect; the metadata has them. */
const Operation = closed(
  {
    columns: Type.Optional(
      withDescription(
        'Columns that must exist. Inserts and deletes concern whole rows, so they have no other effect. Absent: ["*"].',
        Columns,
      ),
    ),
    payload: Payload,
  },
  SOME_PAYLOAD,
);
type Operation = Static<typeof Operation>;
const Update = closed(
  {
    columns: withDescription(
      'Columns of which at least one has to change, for example [status]. ["*"] means all.',
      Columns,
    ),
    payload: Payload,
  },
  SOME_PAYLOAD,
);

const Cleanup = closed({
  schedule: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'When events are deleted: a cron expression in UTC, for example "0 3 * * *".',
  }),
  clearOlderThanHours: withDescription(
    'The age in hours from which events are deleted, for example 168.',
    Hours,
  ),
  batchSize: Type.Optional(
    withDescription('The most events that one statement deletes. Absent: 10000.', AtLeastOne),
  ),
  timeoutSeconds: Type.Optional(
    withDescription('The seconds that one statement may take. Absent: 60.', Seconds),
  ),
  cleanInvocationLogs: Type.Optional(
    Type.Boolean({ description: 'Deletes the logs of the calls of deleted events, too. Absent: false.' }),
  ),
  paused: Type.Optional(
    Type.Boolean({ description: 'Pauses the deletion without removing its schedule. Absent: false.' }),
  ),
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
    name: withDescription(
      'The name of the trigger: a letter, then letters, digits, underscores and hyphens, at most 42. It is unique over all sources. A new name replaces the trigger.',
      TriggerName,
    ),
    insert: Type.Optional(withDescription('Fires when rows are inserted. {} sends all columns.', Operation)),
    update: Type.Optional(withDescription('Fires when rows are updated.', Update)),
    delete: Type.Optional(withDescription('Fires when rows are deleted. {} sends all columns.', Operation)),
    enableManual: Type.Optional(
      Type.Boolean({
        description: 'Allows pg_invoke_event_trigger, which calls the webhook for a row. Absent: false.',
      }),
    ),
    triggerOnReplication: Type.Optional(
      Type.Boolean({ description: 'Fires for changes by logical replication, too. Absent: false.' }),
    ),
    webhook: urlSource(
      'The URL that events are sent to, for example {value: "https://jobs.example.com/changed"}.',
    ),
    headers: Type.Optional(Headers),
    retry: Type.Optional(Retry),
    ...TRANSFORMS,
    cleanup: Type.Optional(
      withDescription('When old events are deleted from the log. Absent: never.', Cleanup),
    ),
  },
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
  fieldPaths: ({ headers }) => [
    { at: 'spec.webhook', of: ['webhook'] },
    { at: 'spec.webhook', of: ['webhook_from_env'] },
    { at: 'spec.cleanup.schedule', of: ['schedule'] },
    ...headerPaths(headers),
  ],
  describe: (inventory) => inventory.all('event_trigger').map(describeTrigger),
});

function triggerObject(spec: EventTriggerSpec, context: TranslateContext): MetadataObject {
  const { name, retry, cleanup } = spec;
  const [source, table] = [sourceNamed(spec.source), tableNamed(spec)];
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
      ...fieldOf('webhook', readValue(spec.webhook, 'spec.webhook', context)),
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
  const operationIn = (of: 'insert' | 'update' | 'delete') =>
    definition[of] && describeOperation(definition[of]);
  return {
    name,
    spec: {
      ...describeSource(source),
      ...describeTableName({ schema, name: table }),
      name,
      insert: operationIn('insert'),
      update: operationIn('update'),
      delete: operationIn('delete'),
      enableManual: definition.enable_manual,
      triggerOnReplication: trigger.trigger_on_replication,
      webhook: describeField('webhook', trigger),
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

function operationOf({ columns = ['*'], payload }: Operation): unknown {
  const all = (list: readonly string[] | undefined) => (list !== undefined && isAll(list) ? '*' : list);
  return { columns: all(columns), payload: all(payload) };
}

function describeOperation({ columns, payload }: NonNullable<EventTrigger['definition']['insert']>): object {
  const list = (given: typeof payload) => (given === '*' ? ['*'] : given);
  return { columns: list(columns), payload: list(payload) };
}
