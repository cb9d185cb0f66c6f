/** Sends lines of the log and metrics to a collector by OTLP over HTTP, in the background. Lines wait in a bounded queue and are sent in
 *  batches; metrics are sent as a whole at an interval. What the collector does not accept is dropped and reported, never repeated.
 *  Not here: whether and where to (http/tracing.ts), the bytes (otlp-encode.ts), spans (span-exporter.ts). */
import { type Agent, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Observe } from './observation.ts';
import { encodeLogs, encodeMetrics, type LogRecord, type MetricFamily } from './otlp-encode.ts';

export type OtlpTarget = {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly agent?: Agent;
};

const TIMEOUT_MS = 10_000;
const LOGS_EVERY_MS = 1_000;
const METRICS_EVERY_MS = 60_000;
/** The most lines in a batch and in the queue; the queue drops further lines. */
const BATCH = 512;
const MOST_WAITING = 4 * BATCH;
/** A longer line is cut, so that the queue is bounded in bytes, too. */
const MOST_LINE_LENGTH = 16_384;

export class LogExporter {
  readonly #target: OtlpTarget;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;
  #waiting: LogRecord[] = [];
  #dropped = 0;
  #sending: Promise<void> | null = null;

  constructor(target: OtlpTarget, observe: Observe) {
    this.#target = target;
    this.#observe = observe;
    this.#timer = setInterval(() => void this.#flush(), LOGS_EVERY_MS).unref();
  }

  add(record: LogRecord): void {
    if (this.#waiting.length >= MOST_WAITING) this.#dropped += 1;
    else this.#waiting.push({ ...record, body: record.body.slice(0, MOST_LINE_LENGTH) });
    if (this.#waiting.length === BATCH) void this.#flush();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  /** Sends what waits, one batch at a time. */
  #flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      await send(this.#target, encodeLogs(this.#target.resource, batch), 'logs', batch.length, this.#observe);
    }
    if (this.#dropped === 0) return;
    const [count, failure] = [this.#dropped, 'the collector is slower than the log'];
    this.#dropped = 0;
    this.#observe({ kind: 'telemetry exported', signal: 'logs', count, failure });
  }
}

export class MetricsExporter {
  readonly #target: OtlpTarget;
  readonly #read: () => Promise<readonly MetricFamily[]>;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt: number;
  #sending: Promise<void> | null = null;

  /** `read` returns the metrics. They count since the engine started. */
  constructor(target: OtlpTarget, read: () => Promise<readonly MetricFamily[]>, observe: Observe) {
    this.#target = target;
    this.#read = read;
    this.#observe = observe;
    this.#startedAt = Date.now() - process.uptime() * 1000;
    this.#timer = setInterval(() => void this.#export(), METRICS_EVERY_MS).unref();
  }

  /** Sends the metrics a last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#export();
  }

  #export(): Promise<void> {
    this.#sending ??= this.#sendNow().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendNow(): Promise<void> {
    try {
      const families = await this.#read();
      const times = { startedAt: this.#startedAt, at: Date.now() };
      const body = encodeMetrics(this.#target.resource, families, times);
      await send(this.#target, body, 'metrics', families.length, this.#observe);
    } catch (error) {
      this.#observe({ kind: 'unexpected', requestId: null, error });
    }
  }
}

/** Sends a request and reports it. Never rejects. */
async function send(
  target: OtlpTarget,
  body: Buffer,
  signal: 'logs' | 'metrics',
  count: number,
  observe: Observe,
): Promise<void> {
  const reason = await post(target, body).catch(reasonOf);
  const failure = reason === null ? null : `the collector did not take them: ${reason}`;
  observe({ kind: 'telemetry exported', signal, count, failure });
}

/** Returns the code of an error where it has one, because the message of a connection error contains the address. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  return typeof code === 'string' && code !== 'ERR_INVALID_URL' ? code : (message ?? '');
}

/** Returns null if the collector accepted the body, otherwise the reason. */
async function post({ endpoint, headers, agent }: OtlpTarget, body: Buffer): Promise<string | null> {
  const url = new URL(endpoint);
  const begin = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = begin(
      url,
      {
        method: 'POST',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(agent && { agent }),
        headers: {
          ...headers,
          'content-type': 'application/x-protobuf',
          'content-length': body.length,
        },
      },
      (response) => {
        response.resume();
        const status = response.statusCode ?? 0;
        response.once('end', () => resolve(status >= 200 && status < 300 ? null : `status ${status}`));
        response.once('error', reject);
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}
