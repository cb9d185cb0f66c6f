/** The API `developer`, for administrators: GET /dev/subscriptions, the statements that subscriptions are asked again with and how
 *  many wait for them; /dev/subscriptions/extended with their text and values; GET /dev/plan_cache, how often plans are used again.
 *  What a person looks at who wonders why Postgres is busy. Reference: docs/reference/behaviour/endpoints.md. Not here: numbers over time (metrics.ts). */
import type { FastifyInstance } from 'fastify';
import { planCacheCounts } from '../execute/plan-cache.ts';
import type { LiveQueries, Polled } from '../subscribe/live-queries.ts';
import type { HttpContext } from './context.ts';
import { adminSessionOf } from './exchange.ts';

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

/** Values are those the statement's parameters have, session variables among them. */
function extended(polled: Polled): object {
  const cohorts = polled.cohorts.map(({ values, watchers }) => ({ subscribers: watchers, values }));
  return { ...summary(polled), statement: polled.statement, cohorts };
}
