/** Decides whether operations are traced, and where spans, lines of the log and metrics are sent: as the metadata says
 *  (`set_opentelemetry_config`), or as the options say when the metadata has no configuration or the status `env`.
 *  When tracing is off, an operation costs one look at the metadata.
 *  Not here: spans and their export (observe/), spans within an operation (execute/). Reference:
 *  docs/reference/behaviour/observability.md; docs/reference/behaviour/metadata.md. */
import type { Options } from '../config/options.ts';
import { FILE_AGE_MS } from '../metadata/references.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { fillTemplate, variablesOf } from '../metadata/variables.ts';
import type { Observe } from '../observe/observation.ts';
import { LogExporter, MetricsExporter, type OtlpTarget } from '../observe/otlp-exporter.ts';
import type { Registry } from '../observe/registry.ts';
import type { Log } from '../observe/sinks.ts';
import type { Span } from '../observe/span.ts';
import { type ExporterOptions, SpanExporter, type TraceHeaders } from '../observe/span-exporter.ts';
import { agentFor } from '../outgoing/http-client.ts';
import { headerValue } from '../resolve/environment-variables.ts';
import type { EngineState } from '../state/state.ts';
import { type OutboundVariables, WebhookFailure } from '../webhook/outbound.ts';
import { VERSION } from './version.ts';

type OpenTelemetry = NonNullable<Metadata['opentelemetry']>;
type Exporting = NonNullable<OpenTelemetry['exporter_otlp']>;

const BATCH_SIZE = 512;
/** The interval at which a change of the metadata is noticed while no operation runs. */
const FOLLOW_EVERY_MS = 5_000;

/** The collectors of one configuration. */
type Exports = {
  readonly traces: ExporterOptions | null;
  readonly logs: OtlpTarget | null;
  readonly metrics: OtlpTarget | null;
};

const NOTHING: Exports = { traces: null, logs: null, metrics: null };

/** The parts of the engine whose data is exported. `registry` is null when nothing is counted. */
export type TelemetrySources = { readonly registry: Registry | null; readonly tap?: Log['tap'] | undefined };

/** The state that the current exporters were created from. `untilMs` is finite when the text of a file may change it. */
type Configured = {
  readonly metadata: Metadata;
  readonly values: number;
  readonly untilMs: number;
  readonly exports: string;
};

export class Tracing {
  readonly #options: Options;
  readonly #state: EngineState;
  readonly #observe: Observe;
  #configured: Configured | null = null;
  #exporter: SpanExporter | null = null;
  #logs: LogExporter | null = null;
  #metrics: MetricsExporter | null = null;
  readonly #registry: Registry | null;
  readonly #timer: NodeJS.Timeout;

  constructor(options: Options, state: EngineState, observe: Observe, { registry, tap }: TelemetrySources) {
    this.#options = options;
    this.#state = state;
    this.#observe = observe;
    this.#registry = registry;
    this.#timer = setInterval(() => this.#followNow(), FOLLOW_EVERY_MS).unref();
    tap?.((record) => {
      this.#followNow();
      this.#logs?.add(record);
    });
  }

  /** Starts a span for an operation, within the caller's trace if there is one. Returns null when no span is to be
   *  recorded. */
  begin(name: string, headers: TraceHeaders): Span | null {
    this.#followNow();
    return this.#exporter?.begin(name, headers) ?? null;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#exporter?.close(), this.#logs?.close(), this.#metrics?.close()]);
  }

  #followNow(): void {
    const { metadata } = this.#state.snapshot();
    const known = this.#configured;
    const isSame =
      known?.metadata === metadata &&
      known.values === this.#state.values.version &&
      performance.now() < known.untilMs;
    if (!isSame) this.#follow(metadata);
  }

  /** Follows a change of the metadata, of named values or of files. A source may have started or stopped using an environment variable of a
   *  header, and the text of a header may have changed. */
  #follow(metadata: Metadata): void {
    const { opentelemetry, network } = metadata;
    const known = this.#configured;
    const wanted = exportsOf(opentelemetry, this.#options, this.#state.outboundVariables);
    const exports = JSON.stringify(wanted);
    const isInFile = variablesOf('opentelemetry', opentelemetry).some(({ name }) => name.startsWith('file:'));
    const untilMs = isInFile ? performance.now() + FILE_AGE_MS : Number.POSITIVE_INFINITY;
    this.#configured = { metadata, values: this.#state.values.version, untilMs, exports };
    const isSame = known?.exports === exports && known.metadata.network === network;
    if (!isSame) this.#configure(wanted);
  }

  #configure({ traces, logs, metrics }: Exports): void {
    void Promise.all([this.#exporter?.close(), this.#logs?.close(), this.#metrics?.close()]);
    const [observe, registry] = [this.#observe, this.#registry];
    const [spanTarget, logTarget, metricTarget] = [
      this.#connected('traces', traces),
      this.#connected('logs', logs),
      this.#connected('metrics', metrics),
    ];
    this.#exporter = spanTarget && new SpanExporter(spanTarget, observe);
    this.#logs = logTarget && new LogExporter(logTarget, observe);
    this.#metrics =
      metricTarget && registry && new MetricsExporter(metricTarget, () => registry.families(), observe);
    if (metricTarget && !registry) {
      this.#sayUnexported(
        'metrics',
        'the engine counts nothing: start it with the API metrics (--enabled-apis)',
      );
    }
  }

  /** Adds connections that follow the TLS allow list. Returns null for an endpoint that is no URL of HTTP, and says so in the log: the
   *  library would throw. */
  #connected<T extends OtlpTarget>(data: 'traces' | 'logs' | 'metrics', exporting: T | null): T | null {
    if (!exporting) return null;
    const url = URL.parse(exporting.endpoint);
    if (url?.protocol === 'http:' || url?.protocol === 'https:') {
      return { ...exporting, agent: agentFor(url, this.#state.trusts) };
    }
    // The endpoint may contain a named value, so the log does not have it.
    this.#sayUnexported(data, 'its endpoint is not a URL of HTTP');
    return null;
  }

  #sayUnexported(data: string, reason: string): void {
    this.#observe({ kind: 'state', event: { kind: `${data} not exported`, reason } });
  }
}

function exportsOf(
  opentelemetry: OpenTelemetry | undefined,
  options: Options,
  variables: OutboundVariables,
): Exports {
  const status = opentelemetry ? (opentelemetry.status ?? 'disabled') : 'env';
  if (status === 'disabled') return NOTHING;
  if (status === 'enabled') return metadataExports(opentelemetry!, variables);
  return optionExports(options);
}

/** Each data type with an endpoint is exported. */
function optionExports(options: Options): Exports {
  const shared = { headers: options.otlpHeaders ?? {}, resource: resourceOf({}) };
  const target = (endpoint: string | undefined): OtlpTarget | null =>
    endpoint === undefined ? null : { endpoint, ...shared };
  const traces = target(options.otlpTracesEndpoint);
  return {
    traces: traces && { ...traces, propagators: options.tracesPropagators, batchSize: BATCH_SIZE },
    logs: target(options.otlpLogsEndpoint),
    metrics: target(options.otlpMetricsEndpoint),
  };
}

function metadataExports(
  { data_types = [], exporter_otlp = {}, batch_span_processor }: OpenTelemetry,
  variables: OutboundVariables,
): Exports {
  const { traces_propagators: propagators = ['b3'], resource_attributes = [] } = exporter_otlp;
  const headers = headersOf(exporter_otlp, variables);
  if (headers === null) return NOTHING;
  const resource = resourceOf(
    Object.fromEntries(resource_attributes.map(({ name, value }) => [name, value])),
  );
  const target = (type: 'traces' | 'logs' | 'metrics'): OtlpTarget | null => {
    const template = exporter_otlp[`otlp_${type}_endpoint`];
    if (template === undefined || !data_types.includes(type)) return null;
    const endpoint = sendable(() => fillTemplate(template, variables));
    return endpoint === null ? null : { endpoint, headers, resource };
  };
  const traces = target('traces');
  const batchSize = batch_span_processor?.max_export_batch_size ?? BATCH_SIZE;
  return {
    traces: traces && { ...traces, propagators, batchSize },
    logs: target('logs'),
    metrics: target('metrics'),
  };
}

/** Returns null when a variable is not set or is never sent: the configuration is inconsistent, and nothing is
 *  exported. */
function headersOf(
  { headers = [] }: Exporting,
  variables: OutboundVariables,
): Readonly<Record<string, string>> | null {
  return sendable(() =>
    Object.fromEntries(headers.map((header) => [header.name, headerValue(header, variables)])),
  );
}

/** Returns the result of `read`; null when it names a variable that is not set or is never sent. */
function sendable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WebhookFailure)) throw error;
    return null;
  }
}

function resourceOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { 'service.name': 'pergola', 'service.version': VERSION, ...given };
}
