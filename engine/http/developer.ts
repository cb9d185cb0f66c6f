/** The API `developer`, for administrators who investigate load on Postgres. GET /dev/subscriptions lists the
 *  statements that subscriptions poll and the number of their subscribers; /dev/subscriptions/extended adds their
 *  text and values; /dev/plan_cache counts hits and misses.
 *  Not here: metrics over time (metrics.ts). Reference: docs/reference/behaviour/endpoints.md. */
import type { FastifyInstance } from 'fastify';
import { planCacheCounts } from '../execute/plan-cache.ts';
import type { LiveQueries, Polled } from '../subscribe/live-queries.ts';
import type { HttpContext } from './context.ts';
import { adminSessionOf } from './request-record.ts';

export function developerRoutes(app: FastifyInstance, { live }: HttpContext): void {
  const routes = {
    '/dev/subscriptions': () => subscriptionsView(live, summary),
    '/dev/subscriptions/extended': () => subscriptionsView(live, extended),
    '/dev/plan_cache': planCacheCounts,
  };
  for (const [path, view] of Object.entries(routes)) {
    app.get(path, async (request) => {
      adminSessionOf(request);
      return view();
    });
  }
}

function subscriptionsView(live: LiveQueries, viewOf: (polled: Polled) => object): object {
  return { subscriptions: live.size, pollers: live.pollers.map(viewOf) };
}

function summary({ source, isStream, intervalMs, cohorts }: Polled): object {
  return {
    source,
    kind: isStream ? 'stream' : 'live query',
    interval_ms: intervalMs,
    cohorts: cohorts.length,
    subscribers: cohorts.reduce((sum, { watchers }) => sum + watchers, 0),
  };
}

/** Adds the values of the statement's parameters, session variables among them. */
function extended(polled: Polled): object {
  const cohorts = polled.cohorts.map(({ values, watchers }) => ({ subscribers: watchers, values }));
  return { ...summary(polled), statement: polled.statement, cohorts };
}
