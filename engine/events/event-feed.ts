/** Feeds of the worker for sources with event triggers: takes events from a source's log, delivers each to its webhook, and records the
 *  result. Not here: intervals and limits (worker.ts). */
import type { Database } from '../database/pool.ts';
import type { ResolvedEventTrigger } from '../resolve/model/event-trigger.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedSource } from '../resolve/model/source.ts';
import { SESSION_PREFIX } from '../resolve/session.ts';
import type { Message } from '../webhook/call.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import { type DeliveryAttempt, deliver } from './deliver.ts';
import { type DeliveryLane, hostOf } from './delivery-slots.ts';
import { type LoggedEvent, recordAttempt, releaseEvents, takeEvents } from './event-log.ts';
import type { RetryDecision } from './retry.ts';
import type { Feed } from './worker.ts';

export type DeliveryContext = {
  readonly databases: { readonly get: (source: string) => Database };
  readonly outbound: OutboundContext;
};

/** The time for recording the answer, beyond the webhook's timeout. */
const LEASE_MARGIN_SECONDS = 60;

/** Returns a feed for each source with event triggers. An event is delivered as its trigger is configured at delivery, even if that
 *  changed after the event was taken. */
export function eventFeeds(now: () => Model, context: DeliveryContext): readonly Feed[] {
  return [...now().sources.values()]
    .map(({ name, eventTriggers }) => ({ name, eventTriggers: deliverable(eventTriggers) }))
    .filter(({ eventTriggers }) => eventTriggers.size > 0)
    .map((source) => feedOf(source, now, context));
}

/** Returns the triggers whose events can be delivered. */
function deliverable(triggers: Triggers): Triggers {
  return new Map([...triggers].filter(([, { isHeld }]) => !isHeld));
}

type Triggers = ResolvedSource['eventTriggers'];

function feedOf(
  { name, eventTriggers }: Pick<ResolvedSource, 'name' | 'eventTriggers'>,
  now: () => Model,
  { databases, outbound }: DeliveryContext,
): Feed {
  // Events that were taken before their trigger was removed are still delivered.
  const triggerOf = ({ trigger }: LoggedEvent) =>
    now().sources.get(name)?.eventTriggers.get(trigger) ?? eventTriggers.get(trigger)!;
  const laneOf = ({ name: trigger, webhook }: ResolvedEventTrigger): DeliveryLane => {
    return { trigger, host: hostOf(webhook.url, outbound.variables) };
  };
  const lanes = [...eventTriggers.values()].map(laneOf);
  const timeouts = [...eventTriggers.values()].map(({ webhook }) => webhook.timeoutSeconds);
  const leaseSeconds = Math.max(...timeouts) + LEASE_MARGIN_SECONDS;
  return {
    name,
    take: async (most, slots) => {
      const triggers = lanes
        .map((lane) => ({ ...lane, free: slots.freeFor(lane), freeForHost: slots.freeForHost(lane.host) }))
        .filter(({ free }) => free > 0);
      if (triggers.length === 0) return [];
      const database = databases.get(name);
      const takesInterrupted = slots.mayTakeInterrupted;
      const events = await takeEvents(database, { triggers, most, leaseSeconds, takesInterrupted });
      return events.map((event) => ({
        id: event.id,
        isInterrupted: event.isInterrupted,
        isHeld: triggerOf(event).isHeld,
        lane: laneOf(triggerOf(event)),
        perform: () => deliverEvent(database, event, triggerOf(event), outbound),
      }));
    },
    release: (jobs) => releaseEvents(databases.get(name), jobs),
  };
}

function deliverEvent(
  database: Database,
  event: LoggedEvent,
  trigger: ResolvedEventTrigger,
  outbound: OutboundContext,
): Promise<void> {
  const delivery = {
    trigger: 'row',
    version: '2',
    messageAfter: (tries: number) => messageOf(event, tries, trigger, outbound.headerPrefix),
    record: (attempt: DeliveryAttempt, decision: RetryDecision) =>
      recordAttempt(database, { event, attempt, decision }),
  } as const;
  return deliver(event, trigger, delivery, outbound);
}

function messageOf(
  event: LoggedEvent,
  tries: number,
  { retries }: ResolvedEventTrigger,
  headerPrefix: string,
): Message {
  const sessionVariables = onTheWire(event.payload['session_variables'], headerPrefix);
  const body = {
    id: event.id,
    created_at: event.createdAt,
    table: { schema: event.schema, name: event.table },
    trigger: { name: event.trigger },
    event: { ...event.payload, session_variables: sessionVariables },
    delivery_info: { current_retry: tries, max_retries: retries.most },
  };
  const { id, trigger } = event;
  return {
    purpose: 'event-trigger',
    event: { id, trigger },
    body,
    sessionVariables: sessionVariables ?? {},
  };
}

/** Returns session variables under the names that clients use, with the configured header prefix. */
function onTheWire(variables: unknown, prefix: string): Readonly<Record<string, string>> | null {
  if (typeof variables !== 'object' || variables === null) return null;
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const given = name.startsWith(SESSION_PREFIX) ? prefix + name.slice(SESSION_PREFIX.length) : name;
      return [given, String(value)];
    }),
  );
}
