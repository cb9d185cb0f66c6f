/** Event triggers on tables, cron triggers, and one-off scheduled events. Spec: "Events"; docs/reference/behaviour/event-triggers.md, docs/reference/behaviour/scheduled-triggers.md. */

import {
  Columns,
  EnvValue,
  Header,
  ObjectName,
  OutboundVariable,
  RequestTransform,
  ResponseTransform,
  UrlTemplate,
} from './common.ts';
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
  webhook_from_env: Type.Optional(OutboundVariable),
  headers: Type.Optional(Type.Array(Header)),
  request_transform: Type.Optional(RequestTransform),
  response_transform: Type.Optional(ResponseTransform),
  cleanup_config: Type.Optional(CleanupConfig),
  trigger_on_replication: Type.Optional(Type.Boolean()),
});
export type EventTrigger = Static<typeof EventTrigger>;

/** The properties that cron triggers and one-off events share: payload, webhook and retries. */
const scheduled = {
  payload: Type.Optional(Type.Unknown()),
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
  include_in_metadata: Type.Boolean(),
  ...scheduled,
});
export type CronTrigger = Static<typeof CronTrigger>;

/** A scheduled event that happens once. It is not part of the document. */
export const OneOffEvent = Type.Object({ webhook: EnvValue, ...scheduled });
export type OneOffEvent = Static<typeof OneOffEvent>;
