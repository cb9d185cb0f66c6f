/** One statement on one source, asked again and again for everyone who watches it.
 *
 *  Postgres does not say that the result of a query has changed, so it is asked. What is asked is the statement's text and
 *  the values it is run with: every argument, variable and session variable is a value, so watchers of the same text form
 *  one poller, and among them those with the same values form a cohort, which is asked once a round however many watch.
 *  Text and values hold the permissions too: equal ones may be shared, whoever watches.
 *
 *  In: `watch(values, watcher)`. Out: `watcher(outcome)`, the first time soon and then whenever the outcome is another.
 *  A cohort is asked when somebody joins it, even between rounds, because what it knows may be older than what the newcomer
 *  has just written; it is never asked twice at the same time, so outcomes come in order.
 *  A failure is an outcome like any other: the next round may succeed.
 *  Not here: what an outcome means to a client (live-queries.ts), several cohorts in one statement (multiplexer.ts). */

import type { Row } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { Value } from '../wire/statement.ts';
import { fingerprintOf } from './fingerprint.ts';

export type Outcome =
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'failure'; readonly error: EngineError };

export type Watcher = (outcome: Outcome) => void;

/** The values that a statement runs with. */
export type Values = readonly Value[];

export type PollerOptions = {
  /** Never rejects. `signal` is aborted when the last watcher of the values has gone. */
  readonly ask: (values: Values, signal: AbortSignal) => Promise<Outcome>;
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

  /** The returned function ends it; nothing is heard after. `next round`: who has just been told something can wait. */
  watch(values: Values, watcher: Watcher, when: 'now' | 'next round' = 'now'): () => void {
    const key = JSON.stringify(values);
    let cohort = this.#cohorts.get(key);
    if (!cohort) {
      cohort = new Cohort((signal) => this.#options.ask(values, signal));
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
  /** Number of the first question whose answer is new enough: asked after the watcher came. */
  readonly from: number;
  /** Version of the outcome it was told last; 0 is none. */
  told: number;
};

class Cohort {
  readonly #ask: (signal: AbortSignal) => Promise<Outcome>;
  readonly #gone = new AbortController();
  readonly #watching = new Set<Watching>();
  /** The fingerprint of the latest outcome. */
  #known: string | undefined;
  #version = 0;
  #questions = 0;
  #isAsking = false;

  constructor(ask: (signal: AbortSignal) => Promise<Outcome>) {
    this.#ask = ask;
  }

  get size(): number {
    return this.#watching.size;
  }

  join(watcher: Watcher): () => void {
    const watching: Watching = { watcher, from: this.#questions + 1, told: 0 };
    this.#watching.add(watching);
    return () => {
      this.#watching.delete(watching);
      if (this.size === 0) this.#gone.abort(new EngineError('clientGone', {}));
    };
  }

  /** A question still open is not asked a second time. */
  refresh(): void {
    if (!this.#isAsking) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isAsking = true;
    let isAwaited: boolean;
    do {
      this.#questions += 1;
      this.#learn(await this.#ask(this.#gone.signal));
      isAwaited = [...this.#watching].some(({ from }) => from > this.#questions);
    } while (isAwaited);
    this.#isAsking = false;
  }

  #learn(outcome: Outcome): void {
    const known = outcome.kind === 'row' ? fingerprintOf(outcome.row) : `failure: ${outcome.error.message}`;
    if (this.#known !== known) this.#version += 1;
    this.#known = known;
    // A copy: watchers come and go while they are told.
    for (const watching of [...this.#watching]) {
      const isDue = watching.from <= this.#questions && watching.told !== this.#version;
      if (!isDue || !this.#watching.has(watching)) continue;
      watching.told = this.#version;
      watching.watcher(outcome);
    }
  }
}
