/** The sources of a model that have event triggers, as feeds for the worker: an event is told, and its verdict written down.
 *  Not here: how often and how many (worker.ts). */
import type { Database } from '../database/pool.ts';
import { SESSION_PREFIX } from '../resolve/session.ts';
import type { Model, ResolvedEventTrigger, ResolvedSource } from '../resolve/types.ts';
import type { Message } from '../webhook/call.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import { attempt } from './deliver.ts';
import { type DeliveryLane, hostOf } from './delivery-slots.ts';
import { type LoggedEvent, recordAttempt, releaseEvents, takeEvents } from './event-log.ts';
import { decideRetry } from './retry.ts';
import type { Feed } from './worker.ts';

export type DeliveryContext = {
  readonly databases: { readonly get: (source: string) => Database };
  readonly outbound: OutboundContext;
};

/** For writing the answer down, beyond the time the webhook has. */
const LEASE_MARGIN_SECONDS = 60;

/** An event is told by its trigger as it is when it is told: one that has been changed since the event was taken, too. */
export function eventFeeds(now: () => Model, around: DeliveryContext): readonly Feed[] {
  return [...now().sources.values()]
    .map(({ name, eventTriggers }) => ({ name, eventTriggers: deliverable(eventTriggers) }))
    .filter(({ eventTriggers }) => eventTriggers.size > 0)
    .map((source) => feedOf(source, now, around));
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
  // One that has gone meanwhile is told what was under way.
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
    take: async (most, shares) => {
      const triggers = lanes
        .map((lane) => ({ ...lane, room: shares.freeFor(lane), hostRoom: shares.freeForHost(lane.host) }))
        .filter(({ room }) => room > 0);
      if (triggers.length === 0) return [];
      const database = databases.get(name);
      const events = await takeEvents(database, { triggers, most, leaseSeconds });
      return events.map((event) => ({
        id: event.id,
        lane: laneOf(triggerOf(event)),
        perform: () => deliverEvent(database, event, triggerOf(event), outbound),
      }));
    },
    release: (ids) => releaseEvents(databases.get(name), ids),
  };
}

async function deliverEvent(
  database: Database,
  event: LoggedEvent,
  trigger: ResolvedEventTrigger,
  outbound: OutboundContext,
): Promise<void> {
  const attempted = await attempt(trigger, messageOf(event, trigger, outbound.headerPrefix), outbound);
  const verdict = decideRetry(attempted, event.tries, trigger.retries);
  await recordAttempt(database, event, attempted, verdict);
  outbound.observe?.({
    kind: 'event processed',
    trigger: 'row',
    outcome: verdict.kind,
    waitedSeconds: event.waitedSeconds,
  });
}

function messageOf(event: LoggedEvent, { retries }: ResolvedEventTrigger, headerPrefix: string): Message {
  const sessionVariables = onTheWire(event.payload['session_variables'], headerPrefix);
  const body = {
    id: event.id,
    created_at: event.createdAt,
    table: { schema: event.schema, name: event.table },
    trigger: { name: event.trigger },
    event: { ...event.payload, session_variables: sessionVariables },
    delivery_info: { current_retry: event.tries, max_retries: retries.most },
  };
  return { purpose: 'event-trigger', body, sessionVariables: sessionVariables ?? {} };
}

/** Under the names clients give them. */
function onTheWire(variables: unknown, prefix: string): Readonly<Record<string, string>> | null {
  if (typeof variables !== 'object' || variables === null) return null;
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const known = name.startsWith(SESSION_PREFIX) ? prefix + name.slice(SESSION_PREFIX.length) : name;
      return [known, String(value)];
    }),
  );
}
