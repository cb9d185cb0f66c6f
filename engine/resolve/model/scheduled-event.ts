/** Cron triggers and declared events of the model.
 *  Not here: how they are resolved (resolve/cron-trigger.ts, resolve/scheduled-event.ts), events (events/). */

import type { ResponseTransform } from '../../metadata/schema/common.ts';
import type { EventWebhook, Retries } from './webhook.ts';

export type ResolvedCronTrigger = ScheduledDelivery & {
  readonly name: string;
  /** The schedule, with its time zone. */
  readonly schedule: string;
  /** True when an environment variable that it sends is missing or forbidden: its events wait. */
  readonly isHeld: boolean;
};

/** A scheduled event that the document declares. */
export type ResolvedScheduledEvent = ScheduledDelivery & {
  readonly name: string;
  /** The time in UTC: `2026-01-31T12:00:00.000Z`. */
  readonly time: string;
  /** True when an environment variable that it sends is missing or forbidden: the event waits. */
  readonly isHeld: boolean;
};

/** The delivery of a scheduled event: its webhook, payload and retries. */
export type ScheduledDelivery = {
  readonly webhook: EventWebhook;
  readonly responseTransform?: ResponseTransform;
  readonly retries: Retries;
  /** An event that is later than this is not delivered. */
  readonly toleranceSeconds: number;
  readonly payload: unknown;
  readonly comment: string | null;
};
