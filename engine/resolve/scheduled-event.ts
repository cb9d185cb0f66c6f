/** Scheduled events that the document declares: their time and delivery. In: metadata. Out: the events that fit, by name.
 *  Not here: webhook, payload and retries, which cron triggers share (cron-trigger.ts), rows (events/upcoming-events.ts).
 *  Reference: docs/reference/behaviour/scheduled-triggers.md. */
import type { DeclaredEvent } from '../metadata/schema/event.ts';
import type { ResolveContext } from './context.ts';
import { scheduledDelivery } from './cron-trigger.ts';
import { scheduledEventSubject } from './inconsistency.ts';
import type { ResolvedScheduledEvent } from './model/scheduled-event.ts';
import { parseTime } from './schedule.ts';

/** Returns the events that fit, by name, in metadata order. */
export function resolveScheduledEvents(
  events: readonly DeclaredEvent[],
  { variables, found }: ResolveContext,
): ReadonlyMap<string, ResolvedScheduledEvent> {
  const resolved = events.map((event) =>
    found.attempt(scheduledEventSubject(event), () => {
      const time = parseTime(event.schedule_at).toISOString();
      const fault = variables.faultOf('scheduled_event', event);
      if (fault) found.add(scheduledEventSubject(event), fault);
      return { name: event.name, time, isHeld: fault !== undefined, ...scheduledDelivery(event) };
    }),
  );
  return new Map(resolved.flatMap((event) => (event ? [[event.name, event]] : [])));
}
