/** Cron triggers and one-off events: their webhook, payload and retries. In: metadata. Out: the delivery of an event.
 *  Not here: times (schedule.ts), the delivery itself (events/scheduled-feed.ts). Reference: docs/reference/behaviour/scheduled-triggers.md. */

import { templateOf } from '../metadata/references.ts';
import type { CronTrigger, OneOffEvent } from '../metadata/schema/event.ts';
import type { ResolveContext } from './context.ts';
import { eventWebhook } from './event-trigger.ts';
import { cronTriggerSubject } from './inconsistency.ts';
import type { ResolvedCronTrigger, ScheduledDelivery } from './model/scheduled-event.ts';
import { parseSchedule, zonedSchedule } from './schedule.ts';

/** The retries of scheduled events that configure none. Reference: docs/reference/behaviour/scheduled-triggers.md. */
export const RETRY_DEFAULTS = {
  num_retries: 0,
  retry_interval_seconds: 10,
  timeout_seconds: 60,
  tolerance_seconds: 21_600,
} as const;

/** Returns the cron triggers that fit, by name, in metadata order. */
export function resolveCronTriggers(
  triggers: readonly CronTrigger[],
  { variables, found }: ResolveContext,
): ReadonlyMap<string, ResolvedCronTrigger> {
  const resolved = triggers.map((trigger) =>
    found.attempt(cronTriggerSubject(trigger), () => {
      const { name, timezone } = trigger;
      parseSchedule(trigger.schedule, timezone);
      const schedule = zonedSchedule(trigger.schedule, timezone);
      const fault = variables.faultOf('cron_trigger', trigger);
      if (fault) found.add(cronTriggerSubject(trigger), fault);
      return { name, schedule, isHeld: fault !== undefined, ...scheduledDelivery(trigger) };
    }),
  );
  return new Map(resolved.flatMap((trigger) => (trigger ? [[trigger.name, trigger]] : [])));
}

export function scheduledDelivery(event: OneOffEvent): ScheduledDelivery {
  const { webhook: url, retry_conf: retries, response_transform: responseTransform } = event;
  const configured = { ...RETRY_DEFAULTS, ...retries };
  return {
    webhook: eventWebhook(templateOf(url), event, configured.timeout_seconds),
    ...(responseTransform ? { responseTransform } : {}),
    retries: { most: configured.num_retries, intervalSeconds: configured.retry_interval_seconds },
    toleranceSeconds: configured.tolerance_seconds,
    payload: event.payload ?? null,
    comment: event.comment ?? null,
  };
}
