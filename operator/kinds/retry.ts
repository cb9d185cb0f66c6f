/** The block `retry` of event triggers, cron triggers and scheduled events.
 *  Not here: the fields of the metadata, whose names differ between the kinds (event-trigger.ts, schedule.ts). */
import { Count, Seconds, type Static, Type } from '@pergola/engine/metadata';
import { closed, withDescription } from './annotate.ts';

export const Retry = withDescription(
  'How often and when a failed call of the webhook is repeated. Absent: a failed call is not repeated.',
  closed({
    limit: Type.Optional(
      withDescription('The most repetitions of one failed call. Absent: 0, no repetition.', Count),
    ),
    intervalSeconds: Type.Optional(
      withDescription(
        'The seconds between two calls, unless the webhook answers with Retry-After. Absent: 10.',
        Seconds,
      ),
    ),
    timeoutSeconds: Type.Optional(
      withDescription('The seconds after which a call without an answer has failed. Absent: 60.', Seconds),
    ),
  }),
);
export type Retry = Static<typeof Retry>;
