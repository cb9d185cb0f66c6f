/** Event triggers on tables, cron triggers, and scheduled events that happen once. Spec: "Events"; docs/reference/behaviour/event-triggers.md, docs/reference/behaviour/scheduled-triggers.md. */

import { fail } from '../../errors/engine-error.ts';
import { siblingReferences } from '../references.ts';
import {
  Columns,
  EnvValue,
  Header,
  ObjectName,
  RequestTransform,
  ResponseTransform,
  UrlFile,
  UrlTemplate,
  UrlValue,
  UrlVariable,
} from './common.ts';
import { secret } from './marks.ts';
import { AtLeastOne, Count, Hours, Seconds } from './number.ts';
import { type Static, Type } from './type.ts';

const Operation = Type.Object({ columns: Columns, payload: Type.Optional(Columns) });

/** The deletion of finished events at the times of a cron schedule. */
export const CleanupConfig = Type.Object({
  schedule: Type.String(),
  clear_older_than: Hours,
  batch_size: Type.Optional(AtLeastOne),
  timeout: Type.Optional(Seconds),
  clean_invocation_logs: Type.Optional(Type.Boolean()),
  paused: Type.Optional(Type.Boolean()),
});
export type CleanupConfig = Static<typeof CleanupConfig>;

export const EventTrigger = Type.Object({
  name: ObjectName,
  definition: Type.Object({
    insert: Type.Optional(Operation),
    update: Type.Optional(Operation),
    delete: Type.Optional(Operation),
    enable_manual: Type.Optional(Type.Boolean()),
  }),
  retry_conf: Type.Optional(
    Type.Object({
      num_retries: Type.Optional(Count),
      interval_sec: Type.Optional(Seconds),
      timeout_sec: Type.Optional(Seconds),
    }),
  ),
  webhook: Type.Optional(UrlTemplate),
  webhook_from_env: Type.Optional(UrlVariable),
  webhook_from_value: Type.Optional(UrlValue),
  webhook_from_file: Type.Optional(UrlFile),
  headers: Type.Optional(Type.Array(Header)),
  request_transform: Type.Optional(RequestTransform),
  response_transform: Type.Optional(ResponseTransform),
  cleanup_config: Type.Optional(CleanupConfig),
  trigger_on_replication: Type.Optional(Type.Boolean()),
});
export type EventTrigger = Static<typeof EventTrigger>;

/** The limit of names, because Postgres has names made of them. */
export const MOST_TRIGGER_NAME_BYTES = 42;

/** The names that `create_event_trigger` takes. A document may have others. */
export const TRIGGER_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** Raises `parseFailed` for the arguments of `create_event_trigger` that fit their schema and make no trigger. A document is not held to
 *  these rules: what is wrong in it is inconsistent. */
export function checkNewTrigger(args: Omit<EventTrigger, 'definition'> & EventTrigger['definition']): void {
  const { name, insert, update, delete: deleted, enable_manual: isManual, webhook } = args;
  const urls = (webhook === undefined ? 0 : 1) + siblingReferences(args, 'webhook').length;
  const refuse = (text: string) => fail('parseFailed', { text });
  if (!TRIGGER_NAME.test(name)) {
    refuse('only alphanumeric and underscore and hyphens allowed for name');
  }
  if (name.length > MOST_TRIGGER_NAME_BYTES) {
    refuse(`event trigger name can be at most ${MOST_TRIGGER_NAME_BYTES} characters`);
  }
  const operations = [insert, update, deleted].filter((operation) => operation !== undefined);
  if (operations.length === 0 && !isManual) {
    refuse('atleast one amongst insert/update/delete/enable_manual spec must be provided');
  }
  if (urls > 1) {
    refuse('only one of webhook or webhook_from_env should be given');
  }
  if (urls === 0) {
    refuse('must provide webhook or webhook_from_env');
  }
  for (const { columns, payload } of operations) {
    if (columns.length === 0) refuse('found empty column specification');
    if (columns === '*' && payload?.length === 0) refuse('found empty payload specification');
  }
}

/** The properties that cron triggers and scheduled events share: payload, webhook and retries. */
const scheduled = {
  payload: Type.Optional(secret(Type.Unknown())),
  headers: Type.Optional(Type.Array(Header)),
  comment: Type.Optional(Type.String()),
  retry_conf: Type.Optional(
    Type.Object({
      num_retries: Type.Optional(Count),
      retry_interval_seconds: Type.Optional(Seconds),
      timeout_seconds: Type.Optional(Seconds),
      tolerance_seconds: Type.Optional(Seconds),
    }),
  ),
  request_transform: Type.Optional(RequestTransform),
  response_transform: Type.Optional(ResponseTransform),
};

export const CronTrigger = Type.Object({
  name: ObjectName,
  webhook: EnvValue,
  schedule: Type.String({ minLength: 1 }),
  timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  include_in_metadata: Type.Boolean(),
  ...scheduled,
});
export type CronTrigger = Static<typeof CronTrigger>;

/** A scheduled event that happens once, created by an operation. It is not part of the document. */
export const OneOffEvent = Type.Object({ webhook: EnvValue, ...scheduled });
export type OneOffEvent = Static<typeof OneOffEvent>;

/** A scheduled event that the document declares. Its name and time identify the event: it is delivered once. */
export const DeclaredEvent = Type.Object({
  name: ObjectName,
  webhook: EnvValue,
  schedule_at: Type.String({ minLength: 1, maxLength: 64 }),
  ...scheduled,
});
export type DeclaredEvent = Static<typeof DeclaredEvent>;
