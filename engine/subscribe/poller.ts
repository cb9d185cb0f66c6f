/** Runs one statement on one source again and again for all subscribers that watch it.
 *
 *  Postgres does not report that the result of a query has changed, so the engine polls. Every argument, variable and session
 *  variable is a value of the statement. Watchers of the same text therefore share one poller, and those with the same values form a
 *  cohort, which runs once a round for all its watchers. Text and values include the permissions, so sharing is safe.
 *
 *  In: `watch(values, watcher)`. Out: `watcher(outcome)`, the first time soon and then whenever the outcome changes.
 *  A cohort also runs when a watcher joins between rounds, because the previous outcome may be older than a write of that watcher.
 *  It never runs twice at the same time, so outcomes arrive in order. A failure is an outcome too: the next round may succeed.
 *  Not here: messages to clients (live-queries.ts), several cohorts in one statement (multiplexer.ts). */

import type { Row } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { Value } from '../wire/statement.ts';
import { fingerprintOf } from './fingerprint.ts';

export type QueryOutcome =
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'failure'; readonly error: EngineError };

export type Watcher = (outcome: QueryOutcome) => void;

/** The values that a statement runs with. */
export type Values = readonly Value[];

type PollerOptions = {
  /** Never rejects. `signal` is aborted when the last watcher of the values leaves. */
  readonly query: (values: Values, signal: AbortSignal) => Promise<QueryOutcome>;
  readonly intervalMs: number;
  readonly beforeRound: () => void;
};

export class Poller {
  readonly #options: PollerOptions;
  readonly #cohorts = new Map<string, Cohort>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#cohorts.size === 0;
  }

  /** Watchers of each cohort, by the values they share. */
  get cohorts(): readonly { readonly values: Values; readonly watchers: number }[] {
    return [...this.#cohorts].map(([key, { size }]) => ({
      values: JSON.parse(key) as Values,
      watchers: size,
    }));
  }

  get sizes(): { readonly cohorts: number; readonly subscribers: number } {
    let subscribers = 0;
    for (const { size } of this.#cohorts.values()) subscribers += size;
    return { cohorts: this.#cohorts.size, subscribers };
  }

  /** Returns a function that ends the watch. `next round`: the watcher already has a recent outcome and can wait. */
  watch(values: Values, watcher: Watcher, when: 'now' | 'next round' = 'now'): () => void {
    const key = JSON.stringify(values);
    let cohort = this.#cohorts.get(key);
    if (!cohort) {
      cohort = new Cohort((signal) => this.#options.query(values, signal));
      this.#cohorts.set(key, cohort);
    }
    const joined = cohort;
    const leave = joined.join(watcher);
    if (when === 'now') joined.refresh();
    this.#timer ??= setInterval(() => this.#round(), this.#options.intervalMs);
    return () => {
      leave();
      if (joined.size === 0 && this.#cohorts.get(key) === joined) this.#cohorts.delete(key);
      if (this.isIdle) this.#rest();
    };
  }

  #round(): void {
    this.#options.beforeRound();
    for (const cohort of this.#cohorts.values()) cohort.refresh();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

type Watching = {
  readonly watcher: Watcher;
  /** The number of the first run that started after the watcher joined. */
  readonly from: number;
  /** The version of the outcome that the watcher received last; 0 before the first one. */
  version: number;
};

class Cohort {
  readonly #query: (signal: AbortSignal) => Promise<QueryOutcome>;
  readonly #gone = new AbortController();
  readonly #watching = new Set<Watching>();
  /** The fingerprint of the latest outcome. */
  #known: string | undefined;
  #version = 0;
  #runs = 0;
  #isRunning = false;

  constructor(query: (signal: AbortSignal) => Promise<QueryOutcome>) {
    this.#query = query;
  }

  get size(): number {
    return this.#watching.size;
  }

  join(watcher: Watcher): () => void {
    const watching: Watching = { watcher, from: this.#runs + 1, version: 0 };
    this.#watching.add(watching);
    return () => {
      this.#watching.delete(watching);
      if (this.size === 0) this.#gone.abort(new EngineError('clientGone', {}));
    };
  }

  /** Runs the statement, unless it is running. */
  refresh(): void {
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let isAwaited: boolean;
    do {
      this.#runs += 1;
      this.#publish(await this.#query(this.#gone.signal));
      isAwaited = [...this.#watching].some(({ from }) => from > this.#runs);
    } while (isAwaited);
    this.#isRunning = false;
  }

  #publish(outcome: QueryOutcome): void {
    const known = outcome.kind === 'row' ? fingerprintOf(outcome.row) : `failure: ${outcome.error.message}`;
    if (this.#known !== known) this.#version += 1;
    this.#known = known;
    // A copy: watchers may join and leave meanwhile.
    for (const watching of [...this.#watching]) {
      const isDue = watching.from <= this.#runs && watching.version !== this.#version;
      if (!isDue || !this.#watching.has(watching)) continue;
      watching.version = this.#version;
      watching.watcher(outcome);
    }
  }
}
