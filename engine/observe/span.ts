/** A span of OpenTelemetry: its children, the headers that pass it on to a service, its end. Children may end after
 *  their parent. Only types are imported from the library, so it is not loaded when nothing is traced.
 *  Not here: starting a trace and exporting spans (span-exporter.ts). */
import type * as Api from '@opentelemetry/api';

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** The parts of the library a span needs, loaded when something is traced. */
export type Tracer = {
  readonly api: typeof Api;
  readonly tracer: Api.Tracer;
  readonly propagator: Api.TextMapPropagator;
};

/** The ids of a span as hexadecimal digits: 32 for the trace, 16 for the span. */
export type SpanContext = { readonly traceId: string; readonly spanId: string };

export class Span {
  readonly #by: Tracer;
  readonly #span: Api.Span;
  /** The context that contains the span. */
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

  /** Starts a child, for work within the engine or for a request to another service. */
  child(name: string, kind: 'internal' | 'client', attributes: Attributes = {}): Span {
    const { INTERNAL, CLIENT } = this.#by.api.SpanKind;
    return new Span(this.#by, name, kind === 'client' ? CLIENT : INTERNAL, this.#context, attributes);
  }

  /** The ids of the span, for receivers that do not read headers. */
  get spanContext(): SpanContext {
    const { traceId, spanId } = this.#span.spanContext();
    return { traceId, spanId };
  }

  /** The headers for a request to another service within this span. Names are lower-case. */
  get headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    this.#by.propagator.inject(this.#context, headers, this.#by.api.defaultTextMapSetter);
    return headers;
  }

  /** Ends the span. `failure` is null on success. */
  end(failure: string | null = null, attributes: Attributes = {}): void {
    this.#span.setAttributes(attributes);
    if (failure !== null) {
      this.#span.setStatus({ code: this.#by.api.SpanStatusCode.ERROR, message: failure });
    }
    this.#span.end();
  }
}

/** Runs `body` and ends the span; an error ends it as failed and is raised again. */
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
