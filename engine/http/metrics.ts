/** GET /v1/metrics, where the API `metrics` is enabled: for whoever knows `--metrics-secret` (a bearer token), and for
 *  administrators. Also here: the numbers that are read where they are, when somebody looks.
 *  Not here: numbers that are counted (observe/measure.ts), the text (observe/registry.ts). Reference: features.md 1.14. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { EngineState } from '../admin/state.ts';
import { planCacheCounts } from '../execute/plan-cache.ts';
import type { Database } from '../execute/pool.ts';
import type { Registry, Sample } from '../observe/registry.ts';
import type { HttpContext } from './context.ts';
import { adminSessionOf, exchangeOf } from './exchange.ts';

export function metricsRoutes(app: FastifyInstance, context: HttpContext, registry: Registry): void {
  registry.collect(() => stateSamples(context.state));
  const secret = context.options.metricsSecret;
  app.get('/v1/metrics', async (request, reply) => {
    if (secret === undefined || !isBearer(request.headers.authorization, secret)) {
      exchangeOf(request).session = await context.authenticate(request.headers);
      adminSessionOf(request);
    }
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(registry.text());
  });
}

/** Hashes are equally long: time tells nothing about the secret. */
function isBearer(authorization: string | undefined, secret: string): boolean {
  const given = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1];
  if (given === undefined) return false;
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'));
}

function stateSamples(state: EngineState): readonly Sample[] {
  const { resourceVersion, inconsistencies, metadata, catalogs } = state.snapshot();
  const { hits, misses, plans } = planCacheCounts();
  return [
    sample('pergola_metadata_resource_version', resourceVersion),
    sample('pergola_metadata_inconsistent_objects', inconsistencies.length),
    ...metadata.sources.map(({ name }) => {
      const catalog = catalogs.get(name);
      return sample('pergola_source_up', catalog && !('error' in catalog) ? 1 : 0, name);
    }),
    ...state.sources.open().flatMap(([name, database]) => poolSamples(name, database)),
    sample('pergola_plan_cache_requests_total', hits, 'hit'),
    sample('pergola_plan_cache_requests_total', misses, 'miss'),
    sample('pergola_plan_cache_plans', plans),
  ];
}

function poolSamples(source: string, { state, counts }: Database): readonly Sample[] {
  return [
    sample('pergola_postgres_statement_seconds', counts.statementSeconds, source),
    sample('pergola_postgres_connections', state.active, source, 'active'),
    sample('pergola_postgres_connections', state.idle, source, 'idle'),
    sample('pergola_postgres_connections', state.opening, source, 'opening'),
    sample('pergola_postgres_connections_limit', state.most, source),
    sample('pergola_postgres_waiting', state.waiting, source),
    sample('pergola_postgres_wait_seconds', counts.waitSeconds, source),
    sample('pergola_postgres_wait_timeouts_total', counts.waitedTooLong, source),
    sample('pergola_postgres_connections_opened_total', counts.opened, source),
    sample('pergola_postgres_connection_errors_total', counts.failedToOpen, source),
  ];
}

function sample(name: Sample['name'], value: Sample['value'], ...labels: readonly string[]): Sample {
  return { name, labels, value };
}
