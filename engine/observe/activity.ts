/** The activity of this replica in the last hour, for `get_recent_activity`: minutes and slow operations, both filled by one timer and by the
 *  observations that are made anyway. Subscriptions are read on request.
 *  Not here: its parts (last-hour.ts, slow-operations.ts), their metrics (metrics.ts). */
import { LastHour, SAMPLE_EVERY_MS } from './last-hour.ts';
import type { Observe } from './observation.ts';
import type { Registry } from './registry.ts';
import { SlowOperations } from './slow-operations.ts';

/** The subscriptions of a replica, as `list_subscriptions` answers. */
export type SubscriptionsView = {
  readonly subscriptions: number;
  readonly roles: readonly { readonly role: string; readonly subscriptions: number }[];
  readonly pollers: readonly PollerView[];
};

/** A statement that is polled for subscriptions. */
export type PollerView = {
  readonly kind: 'live query' | 'stream';
  readonly source: string;
  readonly statement: string;
  readonly interval_ms: number;
  readonly cohorts: number;
  readonly subscribers: number;
  /** The number of its runs, and the share of the time since its start for which it ran. */
  readonly runs: number;
  readonly mean_ms: number | null;
  readonly last_ms: number | null;
  readonly failures: number;
  readonly share: number;
};

export class Activity {
  /** Null when nothing is counted, because neither the metrics nor the console are served. */
  readonly #hour: LastHour | null;
  readonly #slow = new SlowOperations();
  #timer: NodeJS.Timeout | undefined;
  /** Set by the server, which has the subscriptions. */
  subscriptions: (() => SubscriptionsView) | undefined;

  constructor(registry: Registry | null) {
    this.#hour = registry && new LastHour((name) => registry.values(name));
  }

  start(): void {
    const hour = this.#hour;
    if (hour === null) return;
    this.#timer = setInterval(() => {
      void hour.sample();
      this.#slow.turn();
    }, SAMPLE_EVERY_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  readonly observe: Observe = (observation) => {
    if (observation.kind === 'operation finished') this.#slow.observe(observation);
  };

  async report() {
    if (this.#hour === null) return { is_counting: false, minutes: [], latency: null, slow_operations: [] };
    const { minutes, latency } = await this.#hour.report();
    const slow_operations = this.#slow.slowest;
    return { is_counting: true, minutes, latency, slow_operations };
  }
}
