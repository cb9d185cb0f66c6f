/** METRICS as metrics of prom-client, which is loaded when a registry is opened, that is, only when the API `metrics`
 *  or the console is enabled. Counters and histograms are updated by observations; a value that exists elsewhere, such as the
 *  connections of a pool, is collected when it is scraped. Process, memory and event loop are default metrics of
 *  prom-client.
 *  Not here: which metrics exist (metrics.ts), HTTP (http/metrics.ts). */
import type * as Prometheus from 'prom-client';
import type { MetricValue } from './last-hour.ts';
import {
  type CounterName,
  type EngineMetric,
  type HistogramName,
  METRICS,
  type MetricLabels,
} from './metrics.ts';
import type { MetricFamily } from './otlp-encode.ts';

/** The buckets of histograms in seconds, from half a millisecond to ten seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A current value of a metric. */
type MetricSample<N extends EngineMetric> = {
  readonly labels: MetricLabels<N>;
  readonly value: number;
};

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

  count<N extends CounterName>(name: N, labels: MetricLabels<N>, by = 1): void {
    let counter = this.#counters.get(name);
    if (!counter) {
      counter = new this.#prometheus.Counter(this.#configurationOf(name));
      this.#counters.set(name, counter);
    }
    counter.inc(labels, by);
  }

  observe<N extends HistogramName>(name: N, labels: MetricLabels<N>, seconds: number): void {
    let histogram = this.#histograms.get(name);
    if (!histogram) {
      histogram = new this.#prometheus.Histogram({ ...this.#configurationOf(name), buckets: BUCKETS });
      this.#histograms.set(name, histogram);
    }
    histogram.observe(labels, seconds);
  }

  /** Registers a metric whose `samples` are collected at each scrape; a sample that is no longer returned disappears. */
  read<N extends Exclude<EngineMetric, HistogramName>>(
    name: N,
    samples: () => readonly MetricSample<N>[],
  ): void {
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

  /** The metrics with their values, as prom-client's JSON. */
  async families(): Promise<readonly MetricFamily[]> {
    return (await this.#own.getMetricsAsJSON()) as unknown as readonly MetricFamily[];
  }

  /** Returns the current values of a metric, those of each part of a histogram; none before the first one. */
  async values(name: EngineMetric): Promise<readonly MetricValue[]> {
    const metric = this.#own.getSingleMetric(name);
    return ((await metric?.get())?.values ?? []) as readonly MetricValue[];
  }

  text(): Promise<string> {
    return this.#own.metrics();
  }

  #configurationOf(name: EngineMetric): Prometheus.MetricConfiguration<string> {
    const { doc, labels } = METRICS[name];
    return { name, help: doc, labelNames: labels, registers: [this.#own] };
  }
}
