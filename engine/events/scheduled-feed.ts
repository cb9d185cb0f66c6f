/** The feed of the worker for scheduled events: when an event is due, its webhook is called, or the log of an event trigger is cleaned
 *  up. Not here: intervals and limits (worker.ts), rows (scheduled-log.ts), upcoming events (upcoming-events.ts).
 *  Reference: docs/reference/behaviour/scheduled-triggers.md. */

import type { Database } from '../database/pool.ts';
import { EngineError, thrownMessage } from '../errors/engine-error.ts';
import { scheduledDelivery } from '../resolve/cron-trigger.ts';
import type { Cleanup } from '../resolve/model/event-trigger.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ScheduledDelivery } from '../resolve/model/scheduled-event.ts';
import type { Message } from '../webhook/call.ts';
import { type DeliveryAttempt, deliver } from './deliver.ts';
import { type DeliveryLane, type DeliverySlots, hostOf } from './delivery-slots.ts';
import type { DeliveryContext } from './event-feed.ts';
import { cleanUp } from './event-log.ts';
import type { RetryDecision } from './retry.ts';
import {
  deleteScheduled,
  markDead,
  recordScheduledAttempt,
  releaseScheduled,
  type ScheduledEvent,
  takeScheduled,
} from './scheduled-log.ts';
import { updateUpcomingEvents } from './upcoming-events.ts';
import type { Feed } from './worker.ts';

type ScheduledContext = DeliveryContext & { readonly metadataDatabase: Database };

/** A model and the version of the document that it was resolved from. */
type ModelVersion = { readonly model: Model; readonly resourceVersion: number };

const UPDATE_EVERY_MS = 60_000;

/** Returns the feed. It updates upcoming events once a minute. An event is delivered as its trigger is configured at delivery, even if
 *  that changed after the event was taken. */
export function scheduledFeed(now: () => ModelVersion, context: ScheduledContext): Feed {
  const { metadataDatabase: database } = context;
  let updatedAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'metadata database',
    take: async (most, slots) => {
      const { model, resourceVersion } = now();
      if (performance.now() - updatedAt >= UPDATE_EVERY_MS) {
        await updateUpcomingEvents(database, model, resourceVersion);
        updatedAt = performance.now();
      }
      const cleanups = cleanupsOf(model);
      const timeouts = [
        ...[...model.cronTriggers.values()].map(({ webhook }) => webhook.timeoutSeconds),
        ...[...model.scheduledEvents.values()].map(({ webhook }) => webhook.timeoutSeconds),
        ...[...cleanups.values()].map(({ cleanup }) => cleanup.timeoutSeconds),
      ];
      const taken = await takeScheduled(database, {
        crons: notHeld(model.cronTriggers),
        declared: notHeld(model.scheduledEvents),
        cleanups: [...cleanups.keys()],
        most,
        ...freeSlotsIn(slots, model, context),
        timeoutSeconds: Math.max(0, ...timeouts),
        takesInterrupted: slots.mayTakeInterrupted,
      });
      return taken.map((event) => ({
        id: event.id,
        isInterrupted: event.isInterrupted,
        isHeld: declaredIn(event, now().model)?.isHeld ?? false,
        lane: laneOf(event, [now().model, model], cleanups, context),
        perform: async () =>
          event.type === 'cleanup'
            ? cleanUpAt(event, cleanups.get(event.trigger!)!, context)
            : deliverScheduled(event, configuredDelivery(event, [now().model, model]), context),
      }));
    },
    release: (jobs) => releaseScheduled(database, jobs),
  };
}

function notHeld(
  configured: ReadonlyMap<string, { readonly name: string; readonly isHeld: boolean }>,
): readonly string[] {
  return [...configured.values()].filter(({ isHeld }) => !isHeld).map(({ name }) => name);
}

/** Returns the free slots of each lane. `otherwise` applies to one-off events without a delivery in progress, whose host is not known
 *  before they are taken. */
function freeSlotsIn(
  slots: DeliverySlots,
  { cronTriggers, scheduledEvents }: Model,
  { outbound }: ScheduledContext,
): { readonly rooms: ReadonlyMap<string, number>; readonly otherwise: number } {
  const otherwise = slots.freeFor({ trigger: '', host: '' });
  const running = [...slots.triggers.keys()].map((trigger): [string, number] => [
    trigger,
    slots.freeFor({ trigger, host: '' }),
  ]);
  const laneIn = (
    type: string,
    { name, webhook }: ScheduledDelivery & { name: string },
  ): [string, number] => {
    const lane = { trigger: `${type} ${name}`, host: hostOf(webhook.url, outbound.variables) };
    return [lane.trigger, slots.freeFor(lane)];
  };
  const crons = [...cronTriggers.values()].map((trigger) => laneIn('cron', trigger));
  const declared = [...scheduledEvents.values()].map((event) => laneIn('declared', event));
  return { rooms: new Map([...running, ...crons, ...declared]), otherwise };
}

/** Returns the lane of an event. The host of a cleanup is its source, because it loads a database and no webhook. */
function laneOf(
  event: ScheduledEvent,
  models: readonly Model[],
  cleanups: ReadonlyMap<string, CleanupIn>,
  { outbound }: ScheduledContext,
): DeliveryLane {
  const { lane: trigger } = event;
  if (event.type === 'cleanup') return { trigger, host: `source ${cleanups.get(event.trigger!)!.source}` };
  try {
    return { trigger, host: hostOf(configuredDelivery(event, models).webhook.url, outbound.variables) };
  } catch (error) {
    // Performing the event reports the error; the other events of the batch are not affected.
    if (!(error instanceof EngineError)) throw error;
    return { trigger, host: trigger };
  }
}

/** Returns the configuration of an event, from the first model that has its trigger or declaration. Events that were taken before that
 *  was removed are still delivered. */
function configuredDelivery(event: ScheduledEvent, models: readonly Model[]): ScheduledDelivery {
  if (event.definition) return scheduledDelivery(event.definition);
  const found = models.map((model) => declaredIn(event, model));
  return found.find((delivery) => delivery !== undefined)!;
}

/** Returns the trigger or the declaration of an event; undefined for an event that was created alone, and for a cleanup. */
function declaredIn(
  { type, trigger, definition }: ScheduledEvent,
  { cronTriggers, scheduledEvents }: Model,
): (ScheduledDelivery & { readonly isHeld: boolean }) | undefined {
  if (definition || type === 'cleanup') return undefined;
  return (type === 'cron' ? cronTriggers : scheduledEvents).get(trigger!);
}

async function deliverScheduled(
  event: ScheduledEvent,
  to: ScheduledDelivery,
  { metadataDatabase: database, outbound }: ScheduledContext,
): Promise<void> {
  const trigger = event.type as Exclude<typeof event.type, 'cleanup'>;
  if (event.lateSeconds > to.toleranceSeconds) {
    await markDead(database, event.id);
    const { waitedSeconds } = event;
    outbound.observe?.({ kind: 'event processed', trigger, outcome: 'dead', waitedSeconds });
    return;
  }
  const message = messageOf(event, to);
  const delivery = {
    trigger,
    version: '1',
    messageAfter: () => message,
    record: (attempt: DeliveryAttempt, decision: RetryDecision) =>
      recordScheduledAttempt(database, event.id, attempt, decision),
  } as const;
  await deliver(event, to, delivery, outbound);
}

/** Returns the webhook's message. Reference: docs/reference/behaviour/scheduled-triggers.md. */
function messageOf(
  { id, trigger, scheduledTime, createdAt }: ScheduledEvent,
  { payload, comment }: ScheduledDelivery,
): Message {
  const body = {
    id,
    ...(trigger === null ? {} : { name: trigger }),
    scheduled_time: scheduledTime,
    created_at: createdAt,
    payload,
    ...(comment === null ? {} : { comment }),
  };
  return { purpose: 'scheduled-trigger', event: { id, trigger }, body, sessionVariables: {} };
}

type CleanupIn = { readonly source: string; readonly cleanup: Cleanup };

/** Returns the configured cleanups by name of the event trigger. */
function cleanupsOf({ sources }: Model): ReadonlyMap<string, CleanupIn> {
  const found = [...sources.values()].flatMap(({ name: source, eventTriggers }) =>
    [...eventTriggers.values()].flatMap(({ name, cleanup }): [string, CleanupIn][] =>
      cleanup ? [[name, { source, cleanup }]] : [],
    ),
  );
  return new Map(found);
}

/** Cleans up the log of an event trigger. A failure is reported and the cleanup is left to its next time. */
async function cleanUpAt(
  { id, trigger }: ScheduledEvent,
  { source, cleanup }: CleanupIn,
  { databases, metadataDatabase, outbound }: ScheduledContext,
): Promise<void> {
  const report = (event: { readonly kind: string; readonly [detail: string]: unknown }) =>
    outbound.observe?.({ kind: 'state', event: { ...event, source, trigger } });
  try {
    const deleted = await cleanUp(databases.get(source), trigger!, cleanup);
    report({ kind: 'events cleaned up', deleted });
  } catch (error) {
    const reason = thrownMessage(error);
    report({ kind: 'cleanup of events interrupted', reason });
  }
  await deleteScheduled(metadataDatabase, id);
}
