/** Scheduled events as a feed for the worker: at their time webhooks are told, or the log of an event trigger is cleaned up.
 *  Not here: how often and how many (worker.ts), rows (scheduled-log.ts), the next times (upcoming-events.ts).
 *  Reference: docs/reference/behaviour/scheduled-triggers.md. */

import type { Database } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import { appointmentOf } from '../resolve/cron-trigger.ts';
import type { Appointment, Cleanup, Model } from '../resolve/types.ts';
import type { Message } from '../webhook/call.ts';
import { cleanUp } from './cleanup.ts';
import { attempt } from './deliver.ts';
import { type DeliveryLane, type DeliverySlots, hostOf } from './delivery-slots.ts';
import type { DeliveryContext } from './event-feed.ts';
import { decideRetry } from './retry.ts';
import {
  deleteScheduled,
  markDead,
  recordScheduledAttempt,
  releaseScheduled,
  type ScheduledEvent,
  takeScheduled,
} from './scheduled-log.ts';
import { schedulesOf, updateUpcomingEvents } from './upcoming-events.ts';
import type { Feed } from './worker.ts';

export type ScheduledContext = DeliveryContext & { readonly metadataDatabase: Database };

/** The model and the version of the document it is made from. */
export type ModelVersion = { readonly model: Model; readonly resourceVersion: number };

const KEEP_EVERY_MS = 60_000;

/** Upcoming events are kept once a minute however many models there are. An event is told as its trigger says when it is told:
 *  one that has been changed since the event was taken, too. */
export function scheduledFeed(now: () => ModelVersion, around: ScheduledContext): Feed {
  const { metadataDatabase: database } = around;
  let keptAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'metadata database',
    take: async (most, shares) => {
      const { model, resourceVersion } = now();
      if (performance.now() - keptAt >= KEEP_EVERY_MS) {
        await updateUpcomingEvents(database, schedulesOf(model), resourceVersion);
        keptAt = performance.now();
      }
      const cleanups = cleanupsOf(model);
      const timeouts = [
        ...[...model.cronTriggers.values()].map(({ webhook }) => webhook.timeoutSeconds),
        ...[...cleanups.values()].map(({ cleanup }) => cleanup.timeoutSeconds),
      ];
      const taken = await takeScheduled(database, {
        crons: [...model.cronTriggers.values()].filter(({ isHeld }) => !isHeld).map(({ name }) => name),
        cleanups: [...cleanups.keys()],
        most,
        ...roomsIn(shares, model, around),
        timeoutSeconds: Math.max(0, ...timeouts),
      });
      return taken.map((event) => ({
        id: event.id,
        lane: laneOf(event, [now().model, model], cleanups, around),
        perform: async () =>
          event.type === 'cleanup'
            ? cleanUpAt(event, cleanups.get(event.trigger!)!, around)
            : deliverScheduled(event, appointment(event, [now().model, model]), around),
      }));
    },
    release: (ids) => releaseScheduled(database, ids),
  };
}

/** A lane without a delivery under way, whose host is not known here, has the room of any such lane. */
function roomsIn(
  shares: DeliverySlots,
  { cronTriggers }: Model,
  { outbound }: ScheduledContext,
): { readonly rooms: ReadonlyMap<string, number>; readonly otherwise: number } {
  const otherwise = shares.freeFor({ trigger: '', host: '' });
  const running = [...shares.triggers.keys()].map((trigger): [string, number] => [
    trigger,
    shares.freeFor({ trigger, host: '' }),
  ]);
  const crons = [...cronTriggers.values()].map(({ name, webhook }): [string, number] => {
    const lane = { trigger: `cron ${name}`, host: hostOf(webhook.url, outbound.variables) };
    return [lane.trigger, shares.freeFor(lane)];
  });
  return { rooms: new Map([...running, ...crons]), otherwise };
}

/** A cleanup keeps a database busy, not a webhook. */
function laneOf(
  event: ScheduledEvent,
  models: readonly Model[],
  cleanups: ReadonlyMap<string, CleanupIn>,
  { outbound }: ScheduledContext,
): DeliveryLane {
  const { lane: trigger } = event;
  if (event.type === 'cleanup') return { trigger, host: `source ${cleanups.get(event.trigger!)!.source}` };
  try {
    return { trigger, host: hostOf(appointment(event, models).webhook.url, outbound.variables) };
  } catch (error) {
    // Performing it reports what is wrong with it; the others that were taken with it go on.
    if (!(error instanceof EngineError)) throw error;
    return { trigger, host: trigger };
  }
}

/** By the first model that has the trigger: one that has gone meanwhile is told what was under way. */
function appointment({ trigger, definition }: ScheduledEvent, models: readonly Model[]): Appointment {
  if (definition) return appointmentOf(definition);
  return models.map(({ cronTriggers }) => cronTriggers.get(trigger!)).find((found) => found !== undefined)!;
}

async function deliverScheduled(
  event: ScheduledEvent,
  to: Appointment,
  { metadataDatabase: database, outbound }: ScheduledContext,
): Promise<void> {
  const trigger = event.type === 'cron' ? 'cron' : 'one_off';
  const tellOutcome = (outcome: 'delivered' | 'again' | 'failed' | 'dead') =>
    outbound.observe?.({ kind: 'event processed', trigger, outcome, waitedSeconds: event.waitedSeconds });
  if (event.lateSeconds > to.toleranceSeconds) {
    await markDead(database, event.id);
    tellOutcome('dead');
    return;
  }
  const attempted = await attempt(to, messageOf(event, to), outbound);
  const verdict = decideRetry(attempted, event.tries, to.retries);
  await recordScheduledAttempt(database, event.id, attempted, verdict);
  tellOutcome(verdict.kind);
}

/** Reference: docs/reference/behaviour/scheduled-triggers.md. */
function messageOf(
  { id, trigger, scheduledTime, createdAt }: ScheduledEvent,
  { payload, comment }: Appointment,
): Message {
  const body = {
    id,
    ...(trigger === null ? {} : { name: trigger }),
    scheduled_time: scheduledTime,
    created_at: createdAt,
    payload,
    comment,
  };
  return { purpose: 'scheduled-trigger', body, sessionVariables: {} };
}

type CleanupIn = { readonly source: string; readonly cleanup: Cleanup };

/** By event trigger. */
function cleanupsOf({ sources }: Model): ReadonlyMap<string, CleanupIn> {
  const found = [...sources.values()].flatMap(({ name: source, eventTriggers }) =>
    [...eventTriggers.values()].flatMap(({ name, cleanup }): [string, CleanupIn][] =>
      cleanup ? [[name, { source, cleanup }]] : [],
    ),
  );
  return new Map(found);
}

/** What fails is left to the next time. */
async function cleanUpAt(
  { id, trigger }: ScheduledEvent,
  { source, cleanup }: CleanupIn,
  { databases, metadataDatabase, outbound }: ScheduledContext,
): Promise<void> {
  const tell = (event: { readonly kind: string; readonly [detail: string]: unknown }) =>
    outbound.observe?.({ kind: 'state', event: { ...event, source, trigger } });
  try {
    const deleted = await cleanUp(databases.get(source), trigger!, cleanup);
    tell({ kind: 'events cleaned up', deleted });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    tell({ kind: 'cleanup of events interrupted', reason });
  }
  await deleteScheduled(metadataDatabase, id);
}
