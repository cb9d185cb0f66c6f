/** Cron triggers and events that happen once: whom they are told to, and how often it is tried.
 *  Not here: times (schedule.ts), telling (events/scheduled-feed.ts). Reference: docs/reference/behaviour/scheduled-triggers.md. */

import type { CronTrigger, OneOffEvent } from '../metadata/schema/event.ts';
import type { ResolveContext } from './context.ts';
import { eventWebhook } from './event-trigger.ts';
import { cronTriggerSubject } from './inconsistency.ts';
import { parseSchedule } from './schedule.ts';
import type { Appointment, ResolvedCronTrigger } from './types.ts';

/** Reference: docs/reference/behaviour/scheduled-triggers.md. */
export const RETRY_DEFAULTS = {
  num_retries: 0,
  retry_interval_seconds: 10,
  timeout_seconds: 60,
  tolerance_seconds: 21_600,
} as const;

/** By name, in metadata order. */
export function resolveCronTriggers(
  triggers: readonly CronTrigger[],
  { variables, found }: ResolveContext,
): ReadonlyMap<string, ResolvedCronTrigger> {
  const resolved = triggers.map((trigger) =>
    found.attempt(cronTriggerSubject(trigger), () => {
      const { name, schedule } = trigger;
      parseSchedule(schedule);
      const fault = variables.faultOf('cron_trigger', trigger);
      if (fault) found.add(cronTriggerSubject(trigger), fault);
      return { name, schedule, isHeld: fault !== undefined, ...appointmentOf(trigger) };
    }),
  );
  return new Map(resolved.flatMap((trigger) => (trigger ? [[trigger.name, trigger]] : [])));
}

export function appointmentOf(event: OneOffEvent): Appointment {
  const { webhook: url, retry_conf: retries, response_transform: responseTransform } = event;
  const told = { ...RETRY_DEFAULTS, ...retries };
  return {
    webhook: eventWebhook(typeof url === 'string' ? url : `{{${url.from_env}}}`, event, told.timeout_seconds),
    ...(responseTransform ? { responseTransform } : {}),
    retries: { most: told.num_retries, intervalSeconds: told.retry_interval_seconds },
    toleranceSeconds: told.tolerance_seconds,
    payload: event.payload ?? null,
    comment: event.comment ?? null,
  };
}
