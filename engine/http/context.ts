/** What every HTTP handler is given. Made once, in server.ts. */
import type { EngineState } from '../admin/state.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import type { Options } from '../config/options.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { Observe } from '../observe/observation.ts';
import type { Registry } from '../observe/registry.ts';
import type { RemoteCache } from '../remote/cache.ts';
import type { LiveQueries } from '../subscribe/live-queries.ts';
import type { AsyncActions } from '../webhook/async-actions.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { CorsPolicy } from './cors.ts';
import type { CrossSite } from './cross-site.ts';
import type { SendQueues } from './send-queues.ts';
import type { Tracing } from './tracing.ts';

export type HttpContext = {
  readonly options: Options;
  readonly state: EngineState;
  readonly authenticate: Authenticate;
  readonly observe: Observe;
  /** Where the API `metrics` is enabled. */
  readonly registry: Registry | null;
  readonly corsHeaders: CorsPolicy;
  readonly crossSite: CrossSite;
  readonly tracing: Tracing;
  /** Whether requests should go elsewhere by now. */
  readonly life: { isStopping: boolean };
  readonly rateLimiter: RateLimiter;
  readonly budget: ByteBudget;
  readonly sendQueues: SendQueues;
  readonly live: LiveQueries;
  readonly asyncActions: AsyncActions;
  /** Null: off. */
  readonly remoteCache: RemoteCache | null;
};
