/** Numbers by metric and labels, and the text Prometheus reads. Counters and histograms that are told of events are kept
 *  here; what can be read where it is (a pool's connections, the memory) is collected when somebody looks.
 *  Not here: which metrics there are (metrics.ts), HTTP (http/metrics.ts).
 *  Source: Prometheus, "Text-based format", version 0.0.4. */
import { Histogram } from './histogram.ts';
import { type CounterName, type HistogramName, METRICS, type MetricName } from './metrics.ts';

export type Sample = {
  readonly name: MetricName;
  /** In the order of the metric's row. */
  readonly labels: readonly string[];
  readonly value: number | Histogram;
};

/** What is so now. */
export type Collector = () => readonly Sample[];

export class Registry {
  readonly #counters = new Map<CounterName, Node<{ count: number }>>();
  readonly #histograms = new Map<HistogramName, Node<Histogram>>();
  readonly #collectors: Collector[] = [];

  collect(collector: Collector): void {
    this.#collectors.push(collector);
  }

  count(name: CounterName, labels: readonly string[] = [], by = 1): void {
    const node = nodeAt(this.#counters, name, labels);
    node.value ??= { count: 0 };
    node.value.count += by;
  }

  observe(name: HistogramName, labels: readonly string[], value: number): void {
    const node = nodeAt(this.#histograms, name, labels);
    node.value ??= new Histogram();
    node.value.observe(value);
  }

  /** `text/plain; version=0.0.4` */
  text(): string {
    const samples = Map.groupBy(
      [
        ...samplesOf(this.#counters, ({ count }) => count),
        ...samplesOf(this.#histograms, (histogram) => histogram),
        ...this.#collectors.flatMap((collect) => collect()),
      ],
      ({ name }) => name,
    );
    const lines = (Object.keys(METRICS) as MetricName[]).flatMap((name) => {
      const own = samples.get(name);
      if (!own) return [];
      const { type, doc } = METRICS[name];
      return [`# HELP ${name} ${doc}`, `# TYPE ${name} ${type}`, ...own.flatMap(linesOf)];
    });
    return `${lines.join('\n')}\n`;
  }
}

/** Values by their labels, a level a label: a look-up makes no new text, which would cost more than the counting. */
type Node<V> = { value: V | undefined; readonly next: Map<string, Node<V>> };

function nodeAt<N, V>(roots: Map<N, Node<V>>, name: N, labels: readonly string[]): Node<V> {
  let node = roots.get(name) ?? added(roots, name);
  for (const label of labels) node = node.next.get(label) ?? added(node.next, label);
  return node;
}

function added<K, V>(nodes: Map<K, Node<V>>, key: K): Node<V> {
  const node = { value: undefined, next: new Map() };
  nodes.set(key, node);
  return node;
}

function samplesOf<V>(
  roots: ReadonlyMap<MetricName, Node<V>>,
  read: (value: V) => Sample['value'],
): readonly Sample[] {
  const below = (
    name: MetricName,
    labels: readonly string[],
    { value, next }: Node<V>,
  ): readonly Sample[] => [
    ...(value === undefined ? [] : [{ name, labels, value: read(value) }]),
    ...[...next].flatMap(([label, node]) => below(name, [...labels, label], node)),
  ];
  return [...roots].flatMap(([name, node]) => below(name, [], node));
}

function linesOf({ name, labels, value }: Sample): readonly string[] {
  const pairs = METRICS[name].labels.map((label, i) => `${label}="${escaped(labels[i] ?? '')}"`);
  const line = (suffix: string, more: readonly string[], number: number) => {
    const all = [...pairs, ...more];
    return `${name}${suffix}${all.length > 0 ? `{${all.join(',')}}` : ''} ${number}`;
  };
  if (typeof value === 'number') return [line('', [], value)];
  let count = 0;
  const buckets = value.counts.map((own, i) => {
    count += own;
    return line('_bucket', [`le="${value.bounds[i] ?? '+Inf'}"`], count);
  });
  return [...buckets, line('_sum', [], value.sum), line('_count', [], count)];
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
