/** Lines of the log and metrics as requests of OTLP, in protobuf. Only the fields that are sent are known here.
 *  Pure. Not here: sending (otlp-exporter.ts), spans (span-exporter.ts). Reference: OTLP 1.x, `logs.proto`, `metrics.proto`; Protocol
 *  Buffers, "Encoding". */

/** A line of the log. `body` is JSON text. */
export type LogRecord = {
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly type: string;
  readonly body: string;
};

/** A metric as prom-client reports it (`getMetricsAsJSON`). */
export type MetricFamily = {
  readonly name: string;
  readonly help: string;
  /** `counter`, `gauge` or `histogram`; other types are gauges. */
  readonly type: unknown;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    readonly metricName?: string;
  }[];
};

type Resource = Readonly<Record<string, string>>;
type Times = { readonly startedAt: number; readonly at: number };

const SEVERITY = { debug: 5, info: 9, warn: 13, error: 17 } as const;
const CUMULATIVE = 2;

export function encodeLogs(resource: Resource, records: readonly LogRecord[]): Buffer {
  return request(
    resource,
    records.map(({ at, level, type, body }) =>
      message(
        2,
        time(1, at),
        uint(2, SEVERITY[level]),
        text(3, level),
        message(5, text(1, body)),
        attribute(6, 'type', type),
        time(11, at),
      ),
    ),
  );
}

/** `startedAt` is the time since which counters count. */
export function encodeMetrics(resource: Resource, families: readonly MetricFamily[], times: Times): Buffer {
  return request(
    resource,
    families.map((family) => message(2, text(1, family.name), text(2, family.help), dataOf(family, times))),
  );
}

/** Returns a request with one resource and one scope. Both kinds of requests number these fields alike. */
function request(resource: Resource, items: readonly Buffer[]): Buffer {
  const attributes = Object.entries(resource).map(([key, value]) => attribute(1, key, value));
  return message(1, message(1, ...attributes), message(2, message(1, text(1, 'pergola')), ...items));
}

function dataOf(family: MetricFamily, times: Times): Buffer {
  if (family.type === 'histogram') {
    return message(9, ...histogramPoints(family, times), uint(2, CUMULATIVE));
  }
  const points = family.values.map(({ value, labels }) =>
    message(1, time(2, times.startedAt), time(3, times.at), double(4, value), ...attributesOf(7, labels)),
  );
  return family.type === 'counter'
    ? message(7, ...points, uint(2, CUMULATIVE), uint(3, 1))
    : message(5, ...points);
}

/** A histogram is a list of cumulative counts by the label `le`, of sums and of counts, for each combination of labels. */
function histogramPoints({ name, values }: MetricFamily, times: Times): readonly Buffer[] {
  const byLabels = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...byLabels.values()].map((group) => {
    const only = (suffix: string) => group.filter(({ metricName }) => metricName === `${name}_${suffix}`);
    const buckets = only('bucket').toSorted((a, b) => boundOf(a) - boundOf(b));
    const counts = buckets.map(({ value }, i) => value - (buckets[i - 1]?.value ?? 0));
    const { le: _, ...labels } = group[0]!.labels;
    return message(
      1,
      ...[time(2, times.startedAt), time(3, times.at)],
      fixed(4, BigInt(only('count')[0]?.value ?? 0)),
      double(5, only('sum')[0]?.value ?? 0),
      packed(
        6,
        counts.map((count) => bytesOf(BigInt(count))),
      ),
      packed(7, buckets.map(boundOf).filter(Number.isFinite).map(bytesOfDouble)),
      ...attributesOf(9, labels),
    );
  });
}

function boundOf({ labels }: MetricFamily['values'][number]): number {
  return labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']);
}

function attributesOf(field: number, labels: MetricFamily['values'][number]['labels']): readonly Buffer[] {
  return Object.entries(labels).map(([key, value]) => attribute(field, key, String(value)));
}

function attribute(field: number, key: string, value: string): Buffer {
  return message(field, text(1, key), message(2, text(1, value)));
}

// ── protobuf ──

function message(field: number, ...parts: readonly Buffer[]): Buffer {
  return delimited(field, Buffer.concat(parts));
}

function packed(field: number, values: readonly Buffer[]): Buffer {
  return delimited(field, Buffer.concat(values));
}

function text(field: number, value: string): Buffer {
  return delimited(field, Buffer.from(value));
}

function delimited(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

function uint(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

function fixed(field: number, value: bigint): Buffer {
  return Buffer.concat([varint(field * 8 + 1), bytesOf(value)]);
}

function double(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8 + 1), bytesOfDouble(value)]);
}

/** A time in milliseconds since 1970, sent in nanoseconds. */
function time(field: number, ms: number): Buffer {
  return fixed(field, BigInt(Math.round(ms)) * 1_000_000n);
}

function bytesOf(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function bytesOfDouble(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

/** Numbers below 2^31: tags, lengths and enumerations. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 128) return Buffer.from([...bytes, left]);
    bytes.push((left & 127) | 128);
  }
}
