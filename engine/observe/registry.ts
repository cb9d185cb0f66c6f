/** METRICS in the hands of prom-client, which is loaded when a registry is opened: only where the API `metrics` is enabled.
 *  Counters and histograms are told of events; what can be read where it is (a pool's connections) is read when somebody
 *  looks. Process, memory and event loop are prom-client's own.
 *  Not here: which metrics there are (metrics.ts), HTTP (http/metrics.ts). */
import type * as Prometheus from 'prom-client';
import { type CounterName, type HistogramName, type LabelsOf, METRICS, type MetricName } from './metrics.ts';

/** Seconds, from half a millisecond to ten seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What is so now. */
export type Sample<N extends MetricName> = { readonly labels: LabelsOf<N>; readonly value: number };

export class Registry {
  readonly #prometheus: typeof Prometheus;
  readonly #own: Prometheus.Registry;
  readonly #counters = new Map<CounterName, Prometheus.Counter>();
  readonly #histograms = new Map<HistogramName, Prometheus.Histogram>();

  private constructor(prometheus: typeof Prometheus) {
    this.#prometheus = prometheus;
    this.#own = new prometheus.Registry();
    prometheus.collectDefaultMetrics({ register: this.#own });
  }

  static async open(): Promise<Registry> {
    return new Registry(await import('prom-client'));
  }

  count<N extends CounterName>(name: N, labels: LabelsOf<N>, by = 1): void {
    let counter = this.#counters.get(name);
    if (!counter) {
      counter = new this.#prometheus.Counter(this.#configurationOf(name));
      this.#counters.set(name, counter);
    }
    counter.inc(labels, by);
  }

  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void {
    let histogram = this.#histograms.get(name);
    if (!histogram) {
      histogram = new this.#prometheus.Histogram({ ...this.#configurationOf(name), buckets: BUCKETS });
      this.#histograms.set(name, histogram);
    }
    histogram.observe(labels, seconds);
  }

  /** `samples` is asked whenever somebody looks; what it no longer says is no longer shown. */
  read<N extends Exclude<MetricName, HistogramName>>(name: N, samples: () => readonly Sample<N>[]): void {
    const { Counter, Gauge } = this.#prometheus;
    const Metric = METRICS[name].type === 'counter' ? Counter : Gauge;
    const collect = () => {
      metric.reset();
      for (const { labels, value } of samples()) metric.inc(labels, value);
    };
    const metric: Prometheus.Counter | Prometheus.Gauge = new Metric({
      ...this.#configurationOf(name),
      collect,
    });
  }

  get contentType(): string {
    return this.#own.contentType;
  }

  text(): Promise<string> {
    return this.#own.metrics();
  }

  #configurationOf(name: MetricName): Prometheus.MetricConfiguration<string> {
    const { doc, labels } = METRICS[name];
    return { name, help: doc, labelNames: labels, registers: [this.#own] };
  }
}
