/** The fields that CronTrigger and ScheduledEvent share: the webhook, what it receives, and how failed calls are repeated.
 *  Not here: when the webhook is called (cron-trigger.ts, scheduled-event.ts). */
import { Seconds, secret, Type } from '@pergola/engine/metadata';
import { Comment, OPEN_VALUE } from './annotate.ts';
import { optional } from './mapping.ts';
import { retryField } from './retry.ts';
import { TRANSFORMS } from './transform.ts';
import { Headers, urlSource } from './value-source.ts';

export const SCHEDULED_CALL = {
  webhook: urlSource('The URL that is called, for example {value: "{{JOBS_URL}}/nightly"}.'),
  payload: optional(
    'Any JSON value that each call contains as `payload`. Absent: null.',
    secret(Type.Unsafe<unknown>(OPEN_VALUE)),
  ),
  headers: Type.Optional(Headers),
  retry: retryField('retry_interval_seconds', 'timeout_seconds'),
  toleranceSeconds: optional(
    'The most seconds that a call may be late, for example because the engine was stopped. Later calls are left out. Absent: 21600.',
    Seconds,
    'retry_conf.tolerance_seconds',
  ),
  ...TRANSFORMS,
  comment: optional('A note, which each call contains as `comment`.', Comment),
};
