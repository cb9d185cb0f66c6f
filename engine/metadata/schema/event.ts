/** Event triggers on tables and cron triggers. Spec: "Events"; features.md 1.12 and 1.13. */

import {
  Columns,
  EnvValue,
  Header,
  ObjectName,
  RequestTransform,
  ResponseTransform,
  UrlTemplate,
} from './common.ts';
import { type Static, Type } from './type.ts';

const seconds = Type.Integer({ minimum: 0 });
const Operation = Type.Object({ columns: Columns, payload: Type.Optional(Columns) });

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
      num_retries: Type.Optional(Type.Integer({ minimum: 0 })),
      interval_sec: Type.Optional(seconds),
      timeout_sec: Type.Optional(seconds),
    }),
  ),
  webhook: Type.Optional(UrlTemplate),
  webhook_from_env: Type.Optional(Type.String()),
  headers: Type.Optional(Type.Array(Header)),
  request_transform: Type.Optional(RequestTransform),
  response_transform: Type.Optional(ResponseTransform),
  cleanup_config: Type.Optional(
    Type.Object({
      schedule: Type.String(),
      /** Hours. */
      clear_older_than: Type.Integer({ minimum: 0 }),
      batch_size: Type.Optional(Type.Integer({ minimum: 1 })),
      timeout: Type.Optional(seconds),
      clean_invocation_logs: Type.Optional(Type.Boolean()),
      paused: Type.Optional(Type.Boolean()),
    }),
  ),
  trigger_on_replication: Type.Optional(Type.Boolean()),
});
export type EventTrigger = Static<typeof EventTrigger>;

export const CronTrigger = Type.Object({
  name: ObjectName,
  webhook: EnvValue,
  schedule: Type.String({ minLength: 1 }),
  include_in_metadata: Type.Boolean(),
  payload: Type.Optional(Type.Unknown()),
  headers: Type.Optional(Type.Array(Header)),
  comment: Type.Optional(Type.String()),
  retry_conf: Type.Optional(
    Type.Object({
      num_retries: Type.Optional(Type.Integer({ minimum: 0 })),
      retry_interval_seconds: Type.Optional(seconds),
      timeout_seconds: Type.Optional(seconds),
      tolerance_seconds: Type.Optional(seconds),
    }),
  ),
  request_transform: Type.Optional(RequestTransform),
  response_transform: Type.Optional(ResponseTransform),
});
export type CronTrigger = Static<typeof CronTrigger>;
