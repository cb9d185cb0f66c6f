/** The last hour of this replica, minute by minute: rates, errors, latency, connections, deliveries. Filled from the metrics that are counted
 *  anyway (registry.ts) by one timer, so that a request costs nothing more. Bounded: sixty minutes, and the largest sources and error codes.
 *  In: readings of the registry. Out: minutes, as `get_recent_activity` answers.
 *  Not here: single operations (slow-operations.ts). Reference: docs/reference/behaviour/observability.md. */
import { type Latency, latencyOf, sumOf } from './latency.ts';
import type { EngineMetric } from './metrics.ts';

const MINUTES = 60;
/** The time between two readings of the gauges, whose largest value in a minute counts. */
export const SAMPLE_EVERY_MS = 10_000;
const MINUTE_MS = 60_000;
/** The most sources and the most error codes of a minute; of error codes, those after them are `other`. */
const MOST_SOURCES = 50;
const MOST_CODES = 20;

export type MetricValue = {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** The name with its suffix, for the parts of a histogram. */
  readonly metricName?: string;
};

/** The values of a metric; none if it has not been counted yet. */
export type ReadMetric = (name: EngineMetric) => Promise<readonly MetricValue[]>;

type Counts = Readonly<Record<string, number>>;

export type SourceMinute = {
  readonly statements: number;
  /** The mean time of a statement in milliseconds; null without statements. */
  readonly statement_ms: number | null;
  readonly waits: number;
  /** The mean time of a wait for a connection. */
  readonly wait_ms: number | null;
  /** The most connections that were in use, and the most statements that waited, when they were sampled. */
  readonly active: number;
  readonly waiting: number;
  readonly limit: number;
};

export type Minute = {
  /** The end of the minute in ISO 8601. */
  readonly at: string;
  /** Less than a minute for the current one and the first one. */
  readonly seconds: number;
  readonly requests: Counts;
  readonly failed: number;
  readonly errors: Counts;
  readonly latency: Latency | null;
  readonly sources: Readonly<Record<string, SourceMinute>>;
  readonly deliveries: Counts;
  readonly subscriptions: number;
  readonly websockets: number;
};

/** Counters as they were at a time. Keys are the name of the series and its labels. */
type Reading = { readonly at: number; readonly totals: ReadonlyMap<string, number> };

/** The counters of which the differences are shown. */
const COUNTED = [
  'pergola_graphql_requests_total',
  'pergola_graphql_errors_total',
  'pergola_graphql_execution_time_seconds',
  'pergola_postgres_statement_seconds',
  'pergola_postgres_wait_seconds',
  'pergola_events_total',
] as const satisfies readonly EngineMetric[];

/** The gauges of which the largest value is shown. */
const GAUGES = [
  'pergola_postgres_connections',
  'pergola_postgres_waiting',
  'pergola_postgres_connections_limit',
  'pergola_active_subscriptions',
  'pergola_websocket_connections',
] as const satisfies readonly EngineMetric[];

export class LastHour {
  readonly #read: ReadMetric;
  readonly #now: () => number;
  readonly #minutes: { readonly minute: Minute; readonly counted: ReadonlyMap<string, number> }[] = [];
  #start: Reading;
  #peaks = new Map<string, number>();

  constructor(read: ReadMetric, now: () => number = Date.now) {
    this.#read = read;
    this.#now = now;
    this.#start = { at: now(), totals: new Map() };
  }

  /** Reads the gauges, and ends the minute if it is over. */
  async sample(): Promise<void> {
    await this.#readPeaks();
    if (this.#now() - this.#start.at < MINUTE_MS) return;
    const reading = await this.#reading();
    this.#minutes.push(this.#until(reading));
    if (this.#minutes.length > MINUTES) this.#minutes.shift();
    this.#start = reading;
    this.#peaks = new Map();
  }

  /** Returns the minutes, oldest first, the current one last, and what they add up to. */
  async report(): Promise<{ readonly minutes: readonly Minute[]; readonly latency: Latency | null }> {
    await this.#readPeaks();
    const all = [...this.#minutes, this.#until(await this.#reading())];
    const buckets = sumOf(all.map(({ counted }) => counted));
    return { minutes: all.map(({ minute }) => minute), latency: latencyOf(buckets) };
  }

  async #reading(): Promise<Reading> {
    const totals = new Map<string, number>();
    for (const name of COUNTED) {
      for (const { labels, value, metricName = name } of await this.#read(name)) {
        totals.set(seriesOf(metricName, labels), value);
      }
    }
    return { at: this.#now(), totals };
  }

  async #readPeaks(): Promise<void> {
    for (const name of GAUGES) {
      for (const { labels, value } of await this.#read(name)) {
        const series = seriesOf(name, labels);
        this.#peaks.set(series, Math.max(value, this.#peaks.get(series) ?? 0));
      }
    }
  }

  /** Returns the minute from the last reading to this one, and the counts of its histogram of latency. */
  #until({ at, totals }: Reading) {
    const counted = new Map<string, number>();
    for (const [series, total] of totals) {
      counted.set(series, total - (this.#start.totals.get(series) ?? 0));
    }
    const peak = (name: EngineMetric) => this.#peaks.get(seriesOf(name, {})) ?? 0;
    const minute: Minute = {
      at: new Date(at).toISOString(),
      seconds: Math.round((at - this.#start.at) / 100) / 10,
      requests: summed(counted, 'pergola_graphql_requests_total', ['operation_type']),
      failed: summed(counted, 'pergola_graphql_requests_total', ['response_status'])['failed'] ?? 0,
      errors: largest(summed(counted, 'pergola_graphql_errors_total', ['code'])),
      latency: latencyOf(counted),
      sources: sourcesOf(counted, this.#peaks),
      deliveries: summed(counted, 'pergola_events_total', ['outcome']),
      subscriptions: peak('pergola_active_subscriptions'),
      websockets: peak('pergola_websocket_connections'),
    };
    return { minute, counted: onlyLatency(counted) };
  }
}

function seriesOf(name: string, labels: MetricValue['labels']): string {
  return `${name} ${JSON.stringify(labels)}`;
}

/** Returns the sums of a metric by the values of labels, joined by a space. */
function summed(counted: ReadonlyMap<string, number>, name: string, labels: readonly string[]): Counts {
  const sums: Record<string, number> = Object.create(null);
  for (const [series, value] of counted) {
    if (value === 0 || !series.startsWith(`${name} `)) continue;
    const of = JSON.parse(series.slice(name.length + 1)) as Record<string, string>;
    const key = labels.map((label) => of[label]).join(' ');
    sums[key] = (sums[key] ?? 0) + value;
  }
  return sums;
}

/** Returns the largest counts, and the sum of the others as `other`. */
function largest(counts: Counts): Counts {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const rest = sorted.slice(MOST_CODES).reduce((sum, [, count]) => sum + count, 0);
  return Object.fromEntries([
    ...sorted.slice(0, MOST_CODES),
    ...(rest > 0 ? [['other', rest] as const] : []),
  ]);
}

/** Returns the sources by name, those with the most statements first. */
function sourcesOf(
  counted: ReadonlyMap<string, number>,
  peaks: ReadonlyMap<string, number>,
): Readonly<Record<string, SourceMinute>> {
  const histogram = (name: string) => ({
    count: summed(counted, `${name}_count`, ['source']),
    sum: summed(counted, `${name}_sum`, ['source']),
  });
  const statements = histogram('pergola_postgres_statement_seconds');
  const waits = histogram('pergola_postgres_wait_seconds');
  const active = summed(peaks, 'pergola_postgres_connections', ['source', 'state']);
  const waiting = summed(peaks, 'pergola_postgres_waiting', ['source']);
  const limits = summed(peaks, 'pergola_postgres_connections_limit', ['source']);
  const names = [...new Set([...Object.keys(limits), ...Object.keys(statements.count)])].sort(
    (a, b) => (statements.count[b] ?? 0) - (statements.count[a] ?? 0),
  );
  return Object.fromEntries(
    names.slice(0, MOST_SOURCES).map((name) => [
      name,
      {
        statements: statements.count[name] ?? 0,
        statement_ms: meanMs(statements, name),
        waits: waits.count[name] ?? 0,
        wait_ms: meanMs(waits, name),
        active: active[`${name} active`] ?? 0,
        waiting: waiting[name] ?? 0,
        limit: limits[name] ?? 0,
      },
    ]),
  );
}

function meanMs({ count, sum }: { readonly count: Counts; readonly sum: Counts }, name: string) {
  const runs = count[name] ?? 0;
  return runs === 0 ? null : Math.round(((sum[name] ?? 0) / runs) * 100_000) / 100;
}

function onlyLatency(counted: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map([...counted].filter(([series]) => series.startsWith('pergola_graphql_execution_time_')));
}
