/** The metrics of the operator, exported with prom-client and declared in one table. Counters are incremented by the code; gauges and
 *  other values that exist elsewhere are read at each scrape.
 *  Not here: where they are counted, process metrics (prom-client's default metrics). */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

type Row = { readonly type: 'counter' | 'gauge'; readonly doc: string; readonly labels: readonly string[] };

const rowOf =
  <T extends Row['type']>(type: T) =>
  <const L extends readonly string[]>(doc: string, ...labels: L) => ({ type, doc, labels });
const counter = rowOf('counter');
const gauge = rowOf('gauge');

export const METRICS = {
  pergola_is_leader: gauge('Whether this replica is active: 1, or 0 for a standby.'),
  pergola_workqueue_depth: gauge('Engines that wait for a pass, or whose pass is running.'),
  pergola_pass_total: counter('Passes by result: unchanged, written, failed.', 'engine', 'result'),
  pergola_pass_seconds_total: counter('Time spent in passes.', 'engine'),
  pergola_engine_polls_total: counter('Polls of the version of an engine.', 'engine'),
  pergola_engine_requests_total: counter('Requests to an engine.', 'engine'),
  pergola_status_writes_total: counter('Statuses written.', 'kind'),
  pergola_status_failures_total: counter('Statuses that could not be written.', 'kind'),
  pergola_events_total: counter(
    'Events of resources by result: written, counted (in a series), dropped, failed.',
    'result',
  ),
  pergola_drift_corrected_total: counter(
    'Objects that another client had changed and the operator restored.',
    'engine',
  ),
  pergola_objects: gauge(
    'Metadata objects of an engine, by state: owned, foreign, failing, drifted.',
    'engine',
    'state',
  ),
  pergola_resources: gauge('Resources bound to an engine, by reason of Ready.', 'engine', 'reason'),
  pergola_last_success_timestamp_seconds: gauge(
    'The time of the last successful pass over an engine.',
    'engine',
  ),
  pergola_watch_lists_total: counter('Collections listed.'),
  pergola_watch_starts_total: counter('Watches started.'),
  pergola_watch_failures_total: counter('Lists and watches that failed.'),
} as const satisfies Record<string, Row>;

export type MetricName = keyof typeof METRICS;
export type Labels<N extends MetricName> = Readonly<Record<(typeof METRICS)[N]['labels'][number], string>>;
export type Sample<N extends MetricName> = { readonly labels: Labels<N>; readonly value: number };

type CounterName = {
  [N in MetricName]: (typeof METRICS)[N]['type'] extends 'counter' ? N : never;
}[MetricName];

const LOOP_STATISTICS = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'] as const;

export class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<CounterName, Counter>();

  constructor() {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 60_000 });
    // These need a sample of the event loop every few milliseconds, most of the work of an idle operator.
    for (const part of LOOP_STATISTICS) {
      this.#registry.removeSingleMetric(`nodejs_eventloop_lag_${part}_seconds`);
    }
  }

  add<N extends CounterName>(name: N, labels: Labels<N>, value = 1): void {
    let existing = this.#counters.get(name);
    if (!existing) {
      existing = new Counter(this.#configurationOf(name));
      this.#counters.set(name, existing);
    }
    existing.inc(labels, value);
  }

  /** Registers a metric whose samples are read at each scrape. Labels that `samples` no longer returns disappear. */
  read<N extends MetricName>(name: N, samples: () => readonly Sample<N>[]): void {
    const Metric = METRICS[name].type === 'counter' ? Counter : Gauge;
    const collect = () => {
      metric.reset();
      for (const { labels, value } of samples()) metric.inc(labels, value);
    };
    const metric: Counter | Gauge = new Metric({ ...this.#configurationOf(name), collect });
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #configurationOf(name: MetricName) {
    const { doc, labels } = METRICS[name];
    return { name, help: doc, labelNames: labels, registers: [this.#registry] };
  }
}
