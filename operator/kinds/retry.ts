/** The block `retry` of event triggers, cron triggers and scheduled events, whose fields have different names in the metadata. */
import { Count, Seconds } from '@pergola/engine/metadata';
import { closed } from './annotate.ts';
import { optional } from './mapping.ts';

/** Returns the field. `interval` and `timeout` are the members of `retry_conf` for the two times. */
export function retryField(interval: string, timeout: string) {
  return optional(
    'How often and when a failed call of the webhook is repeated. Absent: a failed call is not repeated.',
    closed({
      limit: optional(
        'The most repetitions of one failed call. Absent: 0, no repetition.',
        Count,
        'num_retries',
      ),
      intervalSeconds: optional(
        'The seconds between two calls, unless the webhook answers with Retry-After. Absent: 10.',
        Seconds,
        interval,
      ),
      timeoutSeconds: optional(
        'The seconds after which a call without an answer has failed. Absent: 60.',
        Seconds,
        timeout,
      ),
    }),
    'retry_conf',
  );
}
