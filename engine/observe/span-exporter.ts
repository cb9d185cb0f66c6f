/** Sends ended spans to a collector by OTLP over HTTP, in batches: when one is full, and every few seconds what there is.
 *  Nobody waits for it. A batch the collector does not take is dropped and told, and so is what comes while too many wait.
 *  Not here: bytes (otlp.ts). Source: OTLP specification, "OTLP/HTTP". */
import type { Observe } from './observation.ts';
import { encodeSpans, type Resource } from './otlp.ts';
import type { EndedSpan, SpanSink } from './span.ts';
import type { Propagator } from './trace-context.ts';

export type ExporterOptions = {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Resource;
  readonly propagators: readonly Propagator[];
  readonly batchSize: number;
};

const INTERVAL_MS = 5000;
const TIMEOUT_MS = 10_000;
/** Batches that wait; what is beyond is dropped. */
const MOST_BATCHES = 4;

export class SpanExporter implements SpanSink {
  readonly #options: ExporterOptions;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;
  #waiting: EndedSpan[] = [];
  #dropped = 0;
  #sending: Promise<void> | undefined;

  constructor(options: ExporterOptions, observe: Observe) {
    this.#options = options;
    this.#observe = observe;
    this.#timer = setInterval(() => void this.#send(), INTERVAL_MS).unref();
  }

  get propagators(): readonly Propagator[] {
    return this.#options.propagators;
  }

  readonly ended = (span: EndedSpan): void => {
    const { batchSize } = this.#options;
    if (this.#waiting.length >= batchSize * MOST_BATCHES) this.#dropped += 1;
    else this.#waiting.push(span);
    if (this.#waiting.length >= batchSize) void this.#send();
  };

  /** Sends what is left. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.#send();
  }

  /** One batch after the other. */
  #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#options.batchSize);
      const failure = await this.#post(batch);
      this.#observe({ kind: 'spans exported', count: batch.length, failure });
    }
    if (this.#dropped === 0) return;
    this.#observe({ kind: 'spans exported', count: this.#dropped, failure: 'too many spans at a time' });
    this.#dropped = 0;
  }

  async #post(batch: readonly EndedSpan[]): Promise<string | null> {
    const { endpoint, headers, resource } = this.#options;
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-protobuf' },
        body: new Uint8Array(encodeSpans(batch, resource)),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        redirect: 'manual',
      });
      await response.arrayBuffer();
      return response.ok ? null : `the collector answered ${response.status}`;
    } catch {
      return 'the collector cannot be reached';
    }
  }
}
