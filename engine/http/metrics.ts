/** GET /v1/metrics, when the API `metrics` is enabled: for clients with `--metrics-secret` (a bearer token), and for
 *  administrators. Also here: the metrics whose values are collected when they are scraped.
 *  Not here: metrics that are counted (observe/measure.ts), the text format (observe/registry.ts). Reference:
 *  docs/reference/behaviour/endpoints.md. */

import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/pool.ts';
import { planCacheCounts } from '../execute/plan-cache.ts';
import { SHARED_BUDGET } from '../limits/cache-budget.ts';
import type { Registry } from '../observe/registry.ts';
import { openRemoteFeeds } from '../remote/feed.ts';
import { allInconsistencies } from '../state/inconsistencies.ts';
import type { EngineState } from '../state/state.ts';
import type { HttpContext } from './context.ts';
import { adminSessionOf, recordOf } from './request-record.ts';

/** Registers the metrics that are collected when they are scraped. */
export function readMetrics(context: HttpContext, registry: Registry): void {
  readMetadata(registry, context.state);
  readSources(registry, context.state);
  readCaches(registry);
  registry.read('pergola_usage_uncounted_requests_total', () => one(context.state.fieldUsage.uncounted));
  registry.read('pergola_remote_subscriptions', () => one(openRemoteFeeds()));
  const { remoteCache } = context;
  if (remoteCache) {
    registry.read('pergola_remote_cache_requests_total', () => hitsAndMisses(remoteCache.counts));
  }
}

export function metricsRoutes(app: FastifyInstance, context: HttpContext, registry: Registry): void {
  const secret = context.options.metricsSecret;
  app.get('/v1/metrics', async (request, reply) => {
    if (secret === undefined || !isBearer(request.headers.authorization, secret)) {
      recordOf(request).session = await context.authenticate(request.headers);
      adminSessionOf(request);
    }
    return reply.type(registry.contentType).send(await registry.text());
  });
}

/** Compares hashes, which have equal length, so that the time reveals nothing about the secret. */
function isBearer(authorization: string | undefined, secret: string): boolean {
  const given = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1];
  if (given === undefined) return false;
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'));
}

function readMetadata(registry: Registry, state: EngineState): void {
  registry.read('pergola_metadata_resource_version', () => one(state.snapshot().resourceVersion));
  registry.read('pergola_metadata_inconsistent_objects', () =>
    one(allInconsistencies(state.snapshot()).length),
  );
  registry.read('pergola_metadata_damaged_objects', () => one(state.snapshot().damaged.length));
  registry.read('pergola_named_values', () =>
    Object.entries(state.values.counts()).map(([status, value]) => ({ labels: { status }, value })),
  );
  registry.read('pergola_source_up', () => {
    const { metadata, catalogs } = state.snapshot();
    return metadata.sources.map(({ name: source }) => {
      const catalog = catalogs.get(source);
      return { labels: { source }, value: catalog && !('error' in catalog) ? 1 : 0 };
    });
  });
}

function readSources(registry: Registry, { sources }: EngineState): void {
  const of = (number: (database: Database) => number) => () =>
    sources.open().map(([source, database]) => ({ labels: { source }, value: number(database) }));
  registry.read('pergola_postgres_connections', () =>
    sources.open().flatMap(([source, { state: connections }]) =>
      (['active', 'idle', 'opening'] as const).map((state) => ({
        labels: { source, state },
        value: connections[state],
      })),
    ),
  );
  registry.read(
    'pergola_postgres_connections_limit',
    of(({ state }) => state.most),
  );
  registry.read(
    'pergola_postgres_waiting',
    of(({ state }) => state.waiting),
  );
  registry.read(
    'pergola_postgres_wait_timeouts_total',
    of(({ counts }) => counts.waitedTooLong),
  );
  registry.read(
    'pergola_postgres_connections_opened_total',
    of(({ counts }) => counts.opened),
  );
  registry.read(
    'pergola_postgres_connection_errors_total',
    of(({ counts }) => counts.failedToOpen),
  );
}

function readCaches(registry: Registry): void {
  registry.read('pergola_plan_cache_requests_total', () => hitsAndMisses(planCacheCounts()));
  registry.read('pergola_plan_cache_plans', () => one(planCacheCounts().plans));
  registry.read('pergola_cache_bytes', () =>
    [...SHARED_BUDGET.sizes].map(([cache, { bytes }]) => ({ labels: { cache }, value: bytes })),
  );
  registry.read('pergola_cache_limit_bytes', () => one(SHARED_BUDGET.mostBytes));
}

function hitsAndMisses({ hits, misses }: { readonly hits: number; readonly misses: number }) {
  return [
    { labels: { result: 'hit' }, value: hits },
    { labels: { result: 'miss' }, value: misses },
  ];
}

function one(value: number) {
  return [{ labels: {}, value }];
}
