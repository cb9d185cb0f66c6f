/** The operator's numbers, as prom-client gives them to Prometheus. One table says which there are; nothing else makes one.
 *  Counters are told of events; what can be read where it is is read when somebody looks.
 *  Not here: when they are counted, the numbers of the process (prom-client's default metrics). */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

type Row = { readonly type: 'counter' | 'gauge'; readonly doc: string; readonly labels: readonly string[] };

const rowOf =
  <T extends Row['type']>(type: T) =>
  <const L extends readonly string[]>(doc: string, ...labels: L) => ({ type, doc, labels });
const counter = rowOf('counter');
const gauge = rowOf('gauge');

export const METRICS = {
  pergola_is_leader: gauge('Whether this replica works.'),
  pergola_workqueue_depth: gauge('Engines that wait for a pass, or whose pass is running.'),
  pergola_pass_total: counter(
    'Passes, by what came of them: unchanged, written, failed.',
    'engine',
    'result',
  ),
  pergola_pass_seconds_total: counter('Time spent in passes.', 'engine'),
  pergola_engine_polls_total: counter('Questions after the version of an engine.', 'engine'),
  pergola_engine_requests_total: counter('Requests to an engine.', 'engine'),
  pergola_status_writes_total: counter('Statuses written.', 'kind'),
  pergola_status_failures_total: counter('Statuses that could not be written.', 'kind'),
  pergola_events_total: counter(
    'Events of resources, by what came of them: written, counted (in a series), dropped, failed.',
    'result',
  ),
  pergola_objects: gauge(
    'Metadata objects of an engine, by state: owned, foreign, failing, drifted.',
    'engine',
    'state',
  ),
  pergola_resources: gauge('Resources bound to an engine, by reason of Ready.', 'engine', 'reason'),
  pergola_last_success_timestamp_seconds: gauge('When a pass over an engine last ended well.', 'engine'),
  pergola_watch_lists_total: counter('Collections listed.'),
  pergola_watch_starts_total: counter('Watches begun.'),
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
    // To have them the event loop would be looked at every few milliseconds: most of what an idle operator does.
    for (const part of LOOP_STATISTICS) {
      this.#registry.removeSingleMetric(`nodejs_eventloop_lag_${part}_seconds`);
    }
  }

  add<N extends CounterName>(name: N, labels: Labels<N>, value = 1): void {
    let known = this.#counters.get(name);
    if (!known) {
      known = new Counter(this.#configurationOf(name));
      this.#counters.set(name, known);
    }
    known.inc(labels, value);
  }

  /** `samples` is asked whenever somebody looks; what it no longer says is no longer shown. */
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
