/** Decodes the spans of an ExportTraceServiceRequest by the wire format of protobuf, independently of the library
 *  that encodes them. Also here: a collector that keeps the spans it receives. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReadSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly failure: string | null;
  readonly resource: Readonly<Record<string, string | number>>;
};

const STATUS_ERROR = 2n;

type Field = { readonly number: number; readonly bytes: Buffer; readonly value: bigint };

function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const [number, type] = [tag >> 3, tag & 7];
    if (type === 0) fields.push({ number, bytes: Buffer.alloc(0), value: varint() });
    else {
      const length = type === 1 ? 8 : Number(varint());
      const bytes = message.subarray(at, at + length);
      at += length;
      fields.push({ number, bytes, value: type === 1 ? bytes.readBigUInt64LE() : 0n });
    }
  }
  return fields;
}

const all = (message: Buffer, number: number) => fieldsOf(message).filter((field) => field.number === number);
const textOf = (message: Buffer, number: number) => all(message, number)[0]?.bytes.toString() ?? '';
const hexOf = (message: Buffer, number: number) => all(message, number)[0]?.bytes.toString('hex') ?? '';

function attributesOf(message: Buffer, number: number): Readonly<Record<string, string | number>> {
  const pairs = all(message, number).map(({ bytes }) => {
    const [value] = fieldsOf(all(bytes, 2)[0]!.bytes);
    return [textOf(bytes, 1), value!.number === 1 ? value!.bytes.toString() : Number(value!.value)] as const;
  });
  return Object.fromEntries(pairs);
}

export function decodeSpans(request: Buffer): readonly ReadSpan[] {
  return all(request, 1).flatMap(({ bytes: resourceSpans }) => {
    const resource = attributesOf(all(resourceSpans, 1)[0]!.bytes, 1);
    return all(resourceSpans, 2).flatMap(({ bytes: scopeSpans }) =>
      all(scopeSpans, 2).map(({ bytes }) => spanOf(bytes, resource)),
    );
  });
}

function spanOf(bytes: Buffer, resource: ReadSpan['resource']): ReadSpan {
  const status = all(bytes, 15)[0]?.bytes ?? Buffer.alloc(0);
  const isFailure = all(status, 3)[0]?.value === STATUS_ERROR;
  return {
    traceId: hexOf(bytes, 1),
    spanId: hexOf(bytes, 2),
    parentSpanId: hexOf(bytes, 4),
    name: textOf(bytes, 5),
    kind: Number(all(bytes, 6)[0]!.value),
    startedAt: all(bytes, 7)[0]!.value,
    endedAt: all(bytes, 8)[0]!.value,
    attributes: attributesOf(bytes, 9),
    failure: isFailure ? textOf(status, 2) : null,
    resource,
  };
}

export type ReadLog = {
  readonly level: string;
  readonly severity: number;
  readonly type: unknown;
  readonly body: unknown;
  readonly at: bigint;
  readonly resource: ReadSpan['resource'];
};

/** Decodes an ExportLogsServiceRequest. */
export function decodeLogs(request: Buffer): readonly ReadLog[] {
  return itemsOf(request).map(({ bytes, resource }) => ({
    level: textOf(bytes, 3),
    severity: Number(all(bytes, 2)[0]!.value),
    type: attributesOf(bytes, 6)['type'],
    body: JSON.parse(textOf(all(bytes, 5)[0]!.bytes, 1)),
    at: all(bytes, 1)[0]!.value,
    resource,
  }));
}

export type ReadMetric = {
  readonly name: string;
  readonly help: string;
  readonly kind: 'gauge' | 'sum' | 'histogram';
  readonly isMonotonic: boolean;
  readonly points: readonly {
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value?: number;
    readonly count?: number;
    readonly sum?: number;
    readonly counts?: readonly number[];
    readonly bounds?: readonly number[];
  }[];
};

/** Decodes an ExportMetricsServiceRequest. */
export function decodeMetrics(request: Buffer): readonly ReadMetric[] {
  const kinds = { 5: 'gauge', 7: 'sum', 9: 'histogram' } as const;
  return itemsOf(request).map(({ bytes }) => {
    const data = fieldsOf(bytes).find(({ number }) => number in kinds)!;
    const kind = kinds[data.number as keyof typeof kinds];
    return {
      name: textOf(bytes, 1),
      help: textOf(bytes, 2),
      kind,
      isMonotonic: all(data.bytes, 3)[0]?.value === 1n,
      points: all(data.bytes, 1).map(({ bytes: point }) =>
        kind === 'histogram'
          ? histogramOf(point)
          : { labels: attributesOf(point, 7), value: doubleOf(point, 4) },
      ),
    };
  });
}

function histogramOf(point: Buffer): ReadMetric['points'][number] {
  const words = (number: number) => {
    const bytes = all(point, number)[0]?.bytes ?? Buffer.alloc(0);
    return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.subarray(i * 8, i * 8 + 8));
  };
  return {
    labels: attributesOf(point, 9),
    count: Number(all(point, 4)[0]!.value),
    sum: doubleOf(point, 5),
    counts: words(6).map((word) => Number(word.readBigUInt64LE())),
    bounds: words(7).map((word) => word.readDoubleLE()),
  };
}

const doubleOf = (message: Buffer, number: number) => all(message, number)[0]!.bytes.readDoubleLE();

/** Returns the items of a request with their resource: all kinds of requests number these fields alike. */
function itemsOf(
  request: Buffer,
): readonly { readonly bytes: Buffer; readonly resource: ReadSpan['resource'] }[] {
  return all(request, 1).flatMap(({ bytes: owner }) => {
    const resource = attributesOf(all(owner, 1)[0]!.bytes, 1);
    return all(owner, 2).flatMap(({ bytes: scope }) =>
      all(scope, 2).map(({ bytes }) => ({ bytes, resource })),
    );
  });
}

export type Collector = {
  readonly url: string;
  readonly spans: ReadSpan[];
  readonly logs: ReadLog[];
  /** The metrics of the last request. */
  readonly metrics: ReadMetric[];
  readonly headers: IncomingHttpHeaders[];
  readonly close: () => void;
};

export async function startCollector(): Promise<Collector> {
  const spans: ReadSpan[] = [];
  const [logs, metrics]: [ReadLog[], ReadMetric[]] = [[], []];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    headers.push(request.headers);
    const body = Buffer.concat(chunks);
    if (request.url === '/v1/logs') logs.push(...decodeLogs(body));
    else if (request.url === '/v1/metrics') metrics.splice(0, metrics.length, ...decodeMetrics(body));
    else spans.push(...decodeSpans(body));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  return { url, spans, logs, metrics, headers, close: () => server.close() };
}
