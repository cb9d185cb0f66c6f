/** Remembers databases and remote schemas that failed slowly, for a minute. Consecutive drafts, such as the operator's dry runs, would
 *  otherwise each wait for the same service while nothing else can change the metadata. Operations that name the service
 *  (reload_metadata, add_remote_schema) do not use the cache.
 *  Not here: the requests (gateway.ts), whether a draft uses the cache (unit-of-work.ts). */

const SLOW_MS = 2000;
const CACHED_MS = 60_000;
const MOST_CACHED = 1000;

export class FailureCache {
  readonly #failures = new Map<string, { readonly answer: unknown; readonly untilMs: number }>();

  /** Returns the cached failure, or else the answer of `request`. The key identifies the service as it is configured. `request` never
   *  throws: an answer with `error` or `unanswered` is a failure. */
  async request<T extends object>(
    key: string,
    request: () => Promise<T | (T & { readonly error: unknown })>,
  ): Promise<T> {
    const beganMs = performance.now();
    const cached = this.#failures.get(key);
    if (cached && beganMs < cached.untilMs) return cached.answer as T;
    this.#failures.delete(key);
    const answer = await request();
    const endedMs = performance.now();
    const isFailure = 'error' in answer || 'unanswered' in answer;
    if (isFailure && endedMs - beganMs >= SLOW_MS) {
      const [oldest] = this.#failures.keys();
      if (oldest !== undefined && this.#failures.size >= MOST_CACHED) this.#failures.delete(oldest);
      this.#failures.set(key, { answer, untilMs: endedMs + CACHED_MS });
    }
    return answer;
  }
}
