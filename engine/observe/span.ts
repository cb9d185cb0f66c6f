/** Spans: what was done, when, for how long, and within what. A span that has ended goes to the exporter; children may end
 *  after their parent. Not here: headers (trace-context.ts), the wire (otlp.ts), sending (span-exporter.ts).
 *  Source: OpenTelemetry, "Tracing API". */
import { randomBytes } from 'node:crypto';
import { headersOf, type Propagator, type TraceContext } from './trace-context.ts';

export type SpanKind = 'internal' | 'server' | 'client';
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export type EndedSpan = {
  readonly context: TraceContext;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** Null when all went well. */
  readonly failure: string | null;
};

export type SpanSink = {
  readonly propagators: readonly Propagator[];
  readonly ended: (span: EndedSpan) => void;
};

export class Span {
  readonly context: TraceContext;
  name: string;
  readonly #kind: SpanKind;
  readonly #parent: TraceContext | null;
  readonly #sink: SpanSink;
  readonly #startedAt = now();
  #attributes: Attributes;

  constructor(
    sink: SpanSink,
    name: string,
    kind: SpanKind,
    parent: TraceContext | null,
    attributes: Attributes = {},
  ) {
    this.#sink = sink;
    this.name = name;
    this.#kind = kind;
    this.#parent = parent;
    this.#attributes = attributes;
    const traceId = parent?.traceId ?? hexadecimal(16);
    this.context = { traceId, spanId: hexadecimal(8), isSampled: true };
  }

  child(name: string, kind: SpanKind, attributes: Attributes = {}): Span {
    return new Span(this.#sink, name, kind, this.context, attributes);
  }

  /** For a request to another service made within this span. */
  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.context, this.#sink.propagators);
  }

  end(failure: string | null = null, attributes: Attributes = {}): void {
    this.#attributes = { ...this.#attributes, ...attributes };
    this.#sink.ended({
      context: this.context,
      parentSpanId: this.#parent?.spanId ?? null,
      name: this.name,
      kind: this.#kind,
      startedAt: this.#startedAt,
      endedAt: now(),
      attributes: this.#attributes,
      failure,
    });
  }
}

/** `body` within a span of its own; what it raises ends it as a failure and goes on. */
export async function within<T>(span: Span, body: () => Promise<T>): Promise<T> {
  try {
    const result = await body();
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof Error ? error.name : 'error');
    throw error;
  }
}

/** Goes evenly, whatever happens to the clock on the wall. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function hexadecimal(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
