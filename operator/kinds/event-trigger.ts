/** EventTrigger: calls a webhook when rows of a table change. It is separate from Table: the receiving application owns it. */
import { AtLeastOne, Hours, Seconds, Type } from '@pergola/engine/metadata';
import { closed, Identifier, plainList, type Rule } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { allOrListed, optional, required } from './mapping.ts';
import { retryField } from './retry.ts';
import { printTarget, sourceField, tableFields, tableNamed } from './table-name.ts';
import { TRANSFORMS } from './transform.ts';
import { Headers, urlMember } from './value-source.ts';

const Columns = { ...plainList(Identifier), minItems: 1 };

/** The engine makes names of functions of it. */
const TriggerName = Type.String({ minLength: 1, maxLength: 42, pattern: '^[A-Za-z][A-Za-z0-9_-]*$' });

const Payload = optional(
  'Columns whose values are sent to the webhook. Absent or ["*"]: all.',
  allOrListed(plainList(Identifier)),
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
    columns: optional(
      'Columns that must exist. Inserts and deletes concern whole rows, so they have no other effect. Absent: ["*"].',
      allOrListed(Columns, '*'),
    ),
    payload: Payload,
  },
  SOME_PAYLOAD,
);
const Update = closed(
  {
    columns: required(
      'Columns of which at least one has to change, for example [status]. ["*"] means all.',
      allOrListed(Columns),
    ),
    payload: Payload,
  },
  SOME_PAYLOAD,
);

const Cleanup = closed({
  schedule: required(
    'When events are deleted: a cron expression in UTC, for example "0 3 * * *".',
    Type.String({ minLength: 1, maxLength: 255 }),
  ),
  clearOlderThanHours: required(
    'The age in hours from which events are deleted, for example 168.',
    Hours,
    'clear_older_than',
  ),
  batchSize: optional('The most events that one statement deletes. Absent: 10000.', AtLeastOne),
  timeoutSeconds: optional('The seconds that one statement may take. Absent: 60.', Seconds, 'timeout'),
  cleanInvocationLogs: optional(
    'Deletes the logs of the calls of deleted events, too. Absent: false.',
    Type.Boolean(),
  ),
  paused: optional('Pauses the deletion without removing its schedule. Absent: false.', Type.Boolean()),
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
    name: required(
      'The name of the trigger: a letter, then letters, digits, underscores and hyphens, at most 42. It is unique over all sources. A new name replaces the trigger.',
      TriggerName,
    ),
    insert: optional('Fires when rows are inserted. {} sends all columns.', Operation, 'definition.insert'),
    update: optional('Fires when rows are updated.', Update, 'definition.update'),
    delete: optional('Fires when rows are deleted. {} sends all columns.', Operation, 'definition.delete'),
    enableManual: optional(
      'Allows pg_invoke_event_trigger, which calls the webhook for a row. Absent: false.',
      Type.Boolean(),
      'definition.enable_manual',
    ),
    triggerOnReplication: optional(
      'Fires for changes by logical replication, too. Absent: false.',
      Type.Boolean(),
    ),
    webhook: urlMember(
      'webhook',
      'The URL that events are sent to, for example {value: "https://jobs.example.com/changed"}.',
    ),
    headers: Type.Optional(Headers),
    retry: retryField('interval_sec', 'timeout_sec'),
    ...TRANSFORMS,
    cleanup: optional('When old events are deleted from the log. Absent: never.', Cleanup, 'cleanup_config'),
  },
  SOME_EVENT,
);
export const eventTrigger = kindRow({
  kind: 'EventTrigger',
  shortNames: ['gqlet'],
  concerns: 'object',
  description: 'A webhook that is called when rows of a table change.',
  spec: EventTriggerSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.source', '.spec.name'],
  target: (spec) => `event trigger ${spec.name} of ${printTarget(spec.source, tableNamed(spec))}`,
  objects: [{ kind: 'event_trigger', key: ['source', 'schema', 'table', 'name'] }],
});
