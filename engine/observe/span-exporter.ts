/** OpenTelemetry traces: continues the trace of the caller, and sends finished spans to a collector by OTLP over
 *  HTTP, in batches and in the background. A batch the collector does not accept is dropped and reported.
 *  The library is loaded synchronously with the first exporter, because the operation to trace has already started.
 *  Not here: whether and where to (http/tracing.ts), what a trace contains. */
import { createRequire } from 'node:module';
import type { TextMapPropagator } from '@opentelemetry/api';
import type { SpanExporter as OtelExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Observe } from './observation.ts';
import { type OtlpTarget, reasonOf } from './otlp-exporter.ts';
import { Span, type Tracer } from './span.ts';

/** The header formats that send a trace to services. From callers, any of them is accepted. */
export const PROPAGATORS = ['tracecontext', 'b3'] as const;
export type Propagator = (typeof PROPAGATORS)[number];

/** Request headers by lower-case name. */
export type TraceHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The collector, and how traces are sent to it. The exporter uses connections of its library where there is no agent. */
export type ExporterOptions = OtlpTarget & {
  readonly propagators: readonly Propagator[];
  readonly batchSize: number;
};

/** The time limit of a batch, retries included. */
const TIMEOUT_MS = 10_000;
/** The value of ExportResultCode.SUCCESS in @opentelemetry/core. */
const EXPORTED = 0;
/** The most batches that may wait; more are dropped. */
const MOST_BATCHES = 4;

type Library = ReturnType<typeof load>;
let library: Library | undefined;

function load() {
  const require = createRequire(import.meta.url);
  return {
    api: require('@opentelemetry/api') as typeof import('@opentelemetry/api'),
    core: require('@opentelemetry/core') as typeof import('@opentelemetry/core'),
    b3: require('@opentelemetry/propagator-b3') as typeof import('@opentelemetry/propagator-b3'),
    sdk: require('@opentelemetry/sdk-trace') as typeof import('@opentelemetry/sdk-trace'),
    resources: require('@opentelemetry/resources') as typeof import('@opentelemetry/resources'),
    otlp: require('@opentelemetry/exporter-trace-otlp-proto') as typeof import('@opentelemetry/exporter-trace-otlp-proto'),
  };
}

export class SpanExporter {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #callers: TextMapPropagator;

  constructor(options: ExporterOptions, observe: Observe) {
    library ??= load();
    const { api, sdk, resources } = library;
    this.#provider = new sdk.TracerProvider({
      resource: resources.resourceFromAttributes(options.resource),
      sampler: new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() }),
      spanProcessors: [
        new sdk.BatchSpanProcessor({
          exporter: observedExporter(exporterOf(library, options), observe),
          maxExportBatchSize: options.batchSize,
          maxQueueSize: options.batchSize * MOST_BATCHES,
        }),
      ],
    });
    const propagator = propagatorOf(library, options.propagators);
    this.#tracer = { api, tracer: this.#provider.getTracer('pergola'), propagator };
    // The last propagator that finds a trace wins, so the W3C format overrides B3.
    this.#callers = propagatorOf(library, ['b3', 'tracecontext']);
  }

  /** Starts a span within the caller's trace, if there is one. Returns null when the caller did not sample its trace. */
  begin(name: string, headers: TraceHeaders): Span | null {
    const { api } = this.#tracer;
    const parent = this.#callers.extract(api.ROOT_CONTEXT, headers, api.defaultTextMapGetter);
    const caller = api.trace.getSpanContext(parent);
    if (caller && (caller.traceFlags & api.TraceFlags.SAMPLED) === 0) return null;
    return new Span(this.#tracer, name, api.SpanKind.SERVER, parent);
  }

  /** Sends the remaining spans. Failures have been reported already. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(() => {});
  }
}

function exporterOf({ otlp }: Library, { endpoint, headers, agent }: ExporterOptions): OtelExporter {
  const own = agent && { httpAgentOptions: () => agent };
  return new otlp.OTLPTraceExporter({ url: endpoint, headers, timeoutMillis: TIMEOUT_MS, ...own });
}

function propagatorOf({ core, b3 }: Library, names: readonly Propagator[]): TextMapPropagator {
  const makers: Readonly<Record<Propagator, () => TextMapPropagator>> = {
    tracecontext: () => new core.W3CTraceContextPropagator(),
    b3: () => new b3.B3Propagator({ injectEncoding: b3.B3InjectEncoding.MULTI_HEADER }),
  };
  return new core.CompositePropagator({ propagators: names.map((name) => makers[name]()) });
}

/** Returns the exporter with its batches reported to `observe`. */
function observedExporter(exporter: OtelExporter, observe: Observe): OtelExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const isTaken = result.code === EXPORTED;
        const failure = isTaken ? null : `the collector did not take them: ${reasonOf(result.error ?? {})}`;
        observe({ kind: 'spans exported', count: spans.length, failure });
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
