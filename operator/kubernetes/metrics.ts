/** The operator's numbers, as Prometheus reads them. One table says which there are; nothing else makes one.
 *  Not here: when they are counted. */

const METRICS = {
  pergola_is_leader: ['gauge', 'Whether this replica works.'],
  pergola_workqueue_depth: ['gauge', 'Engines that wait for a pass, or whose pass is running.'],
  pergola_pass_total: ['counter', 'Passes, by what came of them: unchanged, written, failed.'],
  pergola_pass_seconds_total: ['counter', 'Time spent in passes.'],
  pergola_engine_polls_total: ['counter', 'Questions after the version of an engine.'],
  pergola_status_writes_total: ['counter', 'Statuses written.'],
  pergola_status_failures_total: ['counter', 'Statuses that could not be written.'],
  pergola_objects: ['gauge', 'Metadata objects of an engine, by state: owned, foreign, failing, drifted.'],
  pergola_resources: ['gauge', 'Resources bound to an engine, by reason of Ready.'],
  pergola_last_success_timestamp_seconds: ['gauge', 'When a pass over an engine last ended well.'],
  pergola_watch_lists_total: ['counter', 'Collections listed.'],
  pergola_watch_starts_total: ['counter', 'Watches begun.'],
  pergola_watch_failures_total: ['counter', 'Lists and watches that failed.'],
} as const satisfies Record<string, readonly ['gauge' | 'counter', string]>;

export type MetricName = keyof typeof METRICS;
export type Labels = Readonly<Record<string, string>>;

export class Metrics {
  readonly #values = new Map<MetricName, Map<string, number>>();

  set(name: MetricName, value: number, labels: Labels = {}): void {
    this.#series(name).set(printed(labels), value);
  }

  add(name: MetricName, value = 1, labels: Labels = {}): void {
    const series = this.#series(name);
    const key = printed(labels);
    series.set(key, (series.get(key) ?? 0) + value);
  }

  /** Every series of `name` with this label goes: of an engine that is gone, or before it is counted anew. */
  drop(name: MetricName, label: string, value: string): void {
    const series = this.#series(name);
    for (const key of series.keys()) if (key.includes(pair(label, value))) series.delete(key);
  }

  text(): string {
    return [...this.#values]
      .flatMap(([name, series]) => {
        const [type, help] = METRICS[name];
        const lines = [...series].map(([labels, value]) => `${name}${labels} ${value}`);
        return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
      })
      .join('\n')
      .concat('\n');
  }

  #series(name: MetricName): Map<string, number> {
    const known = this.#values.get(name);
    if (known) return known;
    const made = new Map<string, number>();
    this.#values.set(name, made);
    return made;
  }
}

function printed(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => pair(label, value));
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function pair(label: string, value: string): string {
  return `${label}=${JSON.stringify(value)}`;
}
