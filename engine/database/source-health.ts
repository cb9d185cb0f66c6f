/** The health of each source, for `GET /healthz/sources`. A source's `health_check` configures the statement, its interval, and the
 *  number of retries; without one it is `SELECT 1`, at most once a second.
 *  A request returns the cached status and refreshes it in the background if it is too old. Only the first request of a source waits
 *  for its database. Reference: docs/reference/behaviour/endpoints.md; docs/reference/behaviour/metadata.md.
 *  Not here: HTTP (http/config.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '../errors/engine-error.ts';
import { retriesAtOnce, timerMs } from '../metadata/schema/number.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Database } from './pool.ts';
import { membersOf } from './sources.ts';

type SourceStatus = {
  /** FAILED: the statement failed, or the database is unreachable. ERROR: the source has no valid address. */
  readonly status: 'OK' | 'FAILED' | 'TIMEOUT' | 'ERROR';
  /** An error code of Postgres or the network. Messages are left out because they may be confidential. */
  readonly error: string | null;
  readonly timestamp: string;
};

type CachedStatus = { status: SourceStatus; at: number };

type Check = {
  readonly sql: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly retryIntervalMs: number;
};

export class SourceHealth {
  readonly #databaseOf: (source: Source) => Database;
  readonly #cached = new Map<string, CachedStatus>();
  readonly #running = new Map<string, Promise<SourceStatus>>();

  constructor(databaseOf: (source: Source) => Database) {
    this.#databaseOf = databaseOf;
  }

  /** Returns the statuses by name of the source. Members of connection sets share the `health_check` of their source, and are named
   *  `name connection member`. */
  async statuses(sources: readonly Source[]): Promise<Readonly<Record<string, SourceStatus>>> {
    const all = sources.flatMap((source) => [source, ...membersOf(source)]);
    const entries = all.map(async (source) => [source.name, await this.#statusOf(source)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  #statusOf(source: Source): SourceStatus | Promise<SourceStatus> {
    const check = checkOf(source);
    // A source whose configuration has changed is another one.
    const key = `${source.name} ${JSON.stringify(source.configuration)}`;
    const cached = this.#cached.get(key);
    if (!cached) return this.#refresh(source, key, { ...check, retries: 0 });
    if (performance.now() - cached.at > check.intervalMs) void this.#refresh(source, key, check);
    return cached.status;
  }

  /** Runs at most one check of a source at a time. */
  #refresh(source: Source, key: string, check: Check): Promise<SourceStatus> {
    const running = this.#running.get(key);
    if (running) return running;
    const result = this.#find(source, check)
      .then((status) => {
        this.#cached.set(key, { status, at: performance.now() });
        return status;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, result);
    return result;
  }

  async #find(source: Source, check: Check): Promise<SourceStatus> {
    for (let failures = 0; ; failures++) {
      const status = await this.#findOnce(source, check);
      if (status.status === 'OK' || failures >= check.retries) return status;
      await sleep(check.retryIntervalMs, undefined, { ref: false });
    }
  }

  async #findOnce(source: Source, { sql, timeoutMs }: Check): Promise<SourceStatus> {
    const late = new AbortController();
    try {
      const result = this.#databaseOf(source).run({ name: '', text: sql }, []);
      result.catch(() => {});
      const answer = await Promise.race([
        result,
        sleep(timeoutMs, 'late', { signal: late.signal, ref: false }),
      ]);
      return answer === 'late'
        ? statusOf('TIMEOUT', `no answer in ${timeoutMs / 1000} s`)
        : statusOf('OK', null);
    } catch (error) {
      const isOurs = error instanceof EngineError;
      return statusOf(isOurs ? 'ERROR' : 'FAILED', isOurs ? error.codeIn('newer') : codeOf(error));
    } finally {
      late.abort();
    }
  }
}

/** Returns the configured check of a source. Times in the metadata are in seconds. */
function checkOf({ health_check }: Source): Check {
  return {
    sql: health_check?.test?.sql ?? 'SELECT 1',
    intervalMs: (health_check?.interval ?? 1) * 1000,
    timeoutMs: timerMs(health_check?.timeout ?? 10),
    retries: health_check ? retriesAtOnce(health_check.retries ?? 3) : 0,
    retryIntervalMs: timerMs(health_check?.retry_interval ?? 10),
  };
}

function statusOf(status: SourceStatus['status'], error: string | null): SourceStatus {
  return { status, error, timestamp: new Date().toISOString() };
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : 'it cannot be reached';
}
