/** Can each source be asked something: what `GET /healthz/sources` tells. A source's `health_check` says what it is asked, how
 *  often at most, and how many failures in a row it takes; without one it is `SELECT 1`, at most once a second.
 *  Whoever asks is told what is known, and what is too old is found out meanwhile: nobody waits for a database that does not
 *  answer, but for the very first time. Reference: docs/reference/behaviour/endpoints.md; docs/reference/behaviour/metadata.md.
 *  Not here: HTTP (http/config.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '../errors/engine-error.ts';
import { retriesAtOnce, timerMs } from '../metadata/schema/number.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Database } from './pool.ts';
import { membersOf } from './sources.ts';

export type SourceStatus = {
  /** FAILED: it said no, or could not be reached. ERROR: where it is cannot be told. */
  readonly status: 'OK' | 'FAILED' | 'TIMEOUT' | 'ERROR';
  /** A code, of Postgres or the network; messages may say more than everyone should know. */
  readonly error: string | null;
  readonly timestamp: string;
};

type Known = { status: SourceStatus; at: number };

type Check = {
  readonly sql: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly retryIntervalMs: number;
};

export class SourceHealth {
  readonly #databaseOf: (source: Source) => Database;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<SourceStatus>>();

  constructor(databaseOf: (source: Source) => Database) {
    this.#databaseOf = databaseOf;
  }

  /** By name of the source; each member of a connection set, which its source's `health_check` is for, too, as `name connection
   *  member`. */
  async statuses(sources: readonly Source[]): Promise<Readonly<Record<string, SourceStatus>>> {
    const all = sources.flatMap((source) => [source, ...membersOf(source)]);
    const entries = all.map(async (source) => [source.name, await this.#statusOf(source)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  #statusOf(source: Source): SourceStatus | Promise<SourceStatus> {
    const check = checkOf(source);
    // A source whose configuration has changed is another one.
    const key = `${source.name} ${JSON.stringify(source.configuration)}`;
    const known = this.#known.get(key);
    if (!known) return this.#ask(source, key, { ...check, retries: 0 });
    if (performance.now() - known.at > check.intervalMs) void this.#ask(source, key, check);
    return known.status;
  }

  /** One at a time. */
  #ask(source: Source, key: string, check: Check): Promise<SourceStatus> {
    const asking = this.#asking.get(key);
    if (asking) return asking;
    const asked = this.#find(source, check)
      .then((status) => {
        this.#known.set(key, { status, at: performance.now() });
        return status;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
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
      const asked = this.#databaseOf(source).run({ name: '', text: sql }, []);
      asked.catch(() => {});
      const answer = await Promise.race([
        asked,
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

/** Times in the metadata are seconds. */
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
