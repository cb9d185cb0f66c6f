/** The context every HTTP handler receives: options, engine state, authentication, limits and telemetry. Created once per server.
 *  Not here: what belongs to one request (request-record.ts, operation.ts). */
import { type Authenticate, openAuthenticator } from '../auth/authenticate.ts';
import type { Options } from '../config/options.ts';
import { RateLimiter } from '../limits/rate-limiter.ts';
import { TimerWheel } from '../limits/timer-wheel.ts';
import type { Observe } from '../observe/observation.ts';
import type { Registry } from '../observe/registry.ts';
import { RemoteCache } from '../remote/cache.ts';
import type { EngineState } from '../state/state.ts';
import { LiveQueries } from '../subscribe/live-queries.ts';
import type { AsyncActions } from '../webhook/async-actions.ts';
import { ByteBudget } from './body/byte-budget.ts';
import { SendQueues } from './body/send-queues.ts';
import { type CorsPolicy, corsPolicy } from './cors.ts';
import { type CrossSite, crossSitePolicy } from './cross-site.ts';
import { errorFrom } from './error-response.ts';
import { type TelemetrySources, Tracing } from './tracing.ts';

/** The accuracy of the time limits of bodies. */
const TICK_MS = 50;

export type HttpContext = {
  readonly options: Options;
  readonly state: EngineState;
  readonly authenticate: Authenticate;
  readonly observe: Observe;
  /** Null when the API `metrics` is disabled. */
  readonly registry: Registry | null;
  readonly corsHeaders: CorsPolicy;
  readonly crossSite: CrossSite;
  readonly tracing: Tracing;
  /** `isStopping` is true once clients should send their requests to another replica. */
  readonly life: { isStopping: boolean };
  readonly rateLimiter: RateLimiter;
  readonly budget: ByteBudget;
  /** The time limits of bodies. */
  readonly wheel: TimerWheel;
  readonly sendQueues: SendQueues;
  readonly live: LiveQueries;
  readonly asyncActions: AsyncActions;
  /** Null when --remote-schema-cache-size is 0. */
  readonly remoteCache: RemoteCache | null;
};

export async function createContext(
  options: Options,
  state: EngineState,
  observe: Observe,
  { registry, asyncActions, tap }: Pick<HttpContext, 'registry' | 'asyncActions'> & TelemetrySources,
): Promise<HttpContext> {
  return {
    options,
    state,
    observe,
    registry,
    authenticate: await openAuthenticator(options, observe, state.trusts),
    corsHeaders: corsPolicy(options),
    crossSite: crossSitePolicy(options),
    tracing: new Tracing(options, state, observe, { registry, tap }),
    life: { isStopping: false },
    rateLimiter: new RateLimiter(),
    budget: new ByteBudget(options.maxBodyBytesInFlight),
    wheel: new TimerWheel(TICK_MS),
    sendQueues: new SendQueues({
      fullBytes: options.sendQueueLength,
      timeoutMs: options.sendQueueTimeout * 1000,
      maxBytes: options.maxQueuedBytes,
    }),
    live: liveQueries(options, state, observe),
    asyncActions,
    remoteCache: options.remoteSchemaCacheSize > 0 ? new RemoteCache(options.remoteSchemaCacheSize) : null,
  };
}

function liveQueries(options: Options, state: EngineState, observe: Observe): LiveQueries {
  const live = new LiveQueries({
    refetchIntervalMs: options.liveQueriesMultiplexedRefetchInterval,
    streamIntervalMs: options.streamingQueriesMultiplexedRefetchInterval,
    batchSize: options.liveQueriesMultiplexedBatchSize,
    streamBatchSize: options.streamingQueriesMultiplexedBatchSize,
    limits: {
      mostPerConnection: options.maxSubscriptionsPerConnection,
      mostPerSession: options.maxSubscriptionsPerSession,
      mostPerRole: options.maxSubscriptionsPerRole,
    },
    // The other half of the connections is left for requests.
    mostAtOnce: Math.max(1, Math.floor(options.pgConnections / 2)),
    model: () => state.snapshot().model,
    modelAfter: state.modelAfter,
    databases: state.sources,
    errorOf: (thrown) => errorFrom(thrown, { observe, options }, 'live query'),
    observe: options.enabledLogTypes.includes('livequery-poller-log') ? observe : undefined,
  });
  state.gateway.activity.subscriptions = () => live.overview;
  return live;
}
