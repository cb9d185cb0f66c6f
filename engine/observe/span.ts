/** A span of OpenTelemetry and what this engine does with one: spans within it, the headers that tell a service of it, its
 *  end. Children may end after their parent. Only types of the library are imported: where nothing is traced it is not
 *  loaded. Not here: making the first of a trace, and sending them (span-exporter.ts). */
import type * as Api from '@opentelemetry/api';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Of the library, loaded where something is traced. */
export type Tracer = {
  readonly api: typeof Api;
  readonly tracer: Api.Tracer;
  readonly propagator: Api.TextMapPropagator;
};

/** In hexadecimal digits: 32, and 16. */
export type SpanContext = { readonly traceId: string; readonly spanId: string };

export class Span {
  readonly #by: Tracer;
  readonly #span: Api.Span;
  /** With the span in it. */
  readonly #context: Api.Context;

  constructor(
    by: Tracer,
    name: string,
    kind: Api.SpanKind,
    parent: Api.Context,
    attributes: Attributes = {},
  ) {
    this.#by = by;
    this.#span = by.tracer.startSpan(name, { kind, attributes }, parent);
    this.#context = by.api.trace.setSpan(parent, this.#span);
  }

  /** Within the engine, or of a request to another service. */
  child(name: string, kind: 'internal' | 'client', attributes: Attributes = {}): Span {
    const { INTERNAL, CLIENT } = this.#by.api.SpanKind;
    return new Span(this.#by, name, kind === 'client' ? CLIENT : INTERNAL, this.#context, attributes);
  }

  /** Where it is, for those who are told of it otherwise than by headers. */
  get spanContext(): SpanContext {
    const { traceId, spanId } = this.#span.spanContext();
    return { traceId, spanId };
  }

  /** For a request to another service made within this span. Names in lower case. */
  get headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    this.#by.propagator.inject(this.#context, headers, this.#by.api.defaultTextMapSetter);
    return headers;
  }

  /** `failure`: null when all went well. */
  end(failure: string | null = null, attributes: Attributes = {}): void {
    this.#span.setAttributes(attributes);
    if (failure !== null) {
      this.#span.setStatus({ code: this.#by.api.SpanStatusCode.ERROR, message: failure });
    }
    this.#span.end();
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
