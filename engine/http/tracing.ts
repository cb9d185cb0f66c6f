/** Decides whether operations are traced, and where spans are sent: as the metadata says
 *  (`set_opentelemetry_config`), or as the options say when the metadata has no configuration or the status `env`.
 *  When tracing is off, an operation costs one look at the metadata.
 *  Not here: spans and their export (observe/), spans within an operation (execute/). Reference:
 *  docs/reference/behaviour/observability.md; docs/reference/behaviour/metadata.md. */
import type { EngineState } from '../admin/state.ts';
import type { Options } from '../config/options.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Observe } from '../observe/observation.ts';
import type { Span } from '../observe/span.ts';
import { type ExporterOptions, SpanExporter, type TraceHeaders } from '../observe/span-exporter.ts';
import { agentFor } from '../outgoing/http-client.ts';
import { type OutboundVariables, WebhookFailure } from '../webhook/outbound.ts';
import { VERSION } from './version.ts';

type OpenTelemetry = NonNullable<Metadata['opentelemetry']>;
type Exporting = NonNullable<OpenTelemetry['exporter_otlp']>;

const BATCH_SIZE = 512;

export class Tracing {
  readonly #options: Options;
  readonly #state: EngineState;
  readonly #observe: Observe;
  #configured: { readonly metadata: Metadata; readonly isSendable: boolean } | null = null;
  #exporter: SpanExporter | null = null;

  constructor(options: Options, state: EngineState, observe: Observe) {
    this.#options = options;
    this.#state = state;
    this.#observe = observe;
  }

  /** Starts a span for an operation, within the caller's trace if there is one. Returns null when no span is to be
   *  recorded. */
  begin(name: string, headers: TraceHeaders): Span | null {
    const { metadata } = this.#state.snapshot();
    if (this.#configured?.metadata !== metadata) this.#follow(metadata);
    return this.#exporter?.begin(name, headers) ?? null;
  }

  async close(): Promise<void> {
    await this.#exporter?.close();
  }

  /** Follows a change of the metadata. A source may have started or stopped using an environment variable of a
   *  header. */
  #follow(metadata: Metadata): void {
    const { opentelemetry, network } = metadata;
    const known = this.#configured;
    const isSendable = headersOf(opentelemetry?.exporter_otlp ?? {}, this.#state.outboundVariables) !== null;
    this.#configured = { metadata, isSendable };
    const isSame = known?.metadata.opentelemetry === opentelemetry && known?.metadata.network === network;
    if (!known || !isSame || known.isSendable !== isSendable) this.#configure(metadata);
  }

  #configure({ opentelemetry }: Metadata): void {
    void this.#exporter?.close();
    const exporting = exportingOf(opentelemetry, this.#options, this.#state.outboundVariables);
    this.#exporter = exporting && new SpanExporter(this.#connected(exporting), this.#observe);
  }

  /** Adds connections that follow the TLS allow list. The exporter itself reports an endpoint that is not a URL. */
  #connected(exporting: ExporterOptions): ExporterOptions {
    const url = URL.parse(exporting.endpoint);
    return url ? { ...exporting, agent: agentFor(url, this.#state.trusts) } : exporting;
  }
}

function exportingOf(
  opentelemetry: OpenTelemetry | undefined,
  options: Options,
  variables: OutboundVariables,
): ExporterOptions | null {
  const status = opentelemetry ? (opentelemetry.status ?? 'disabled') : 'env';
  if (status === 'disabled') return null;
  if (status === 'enabled') return metadataExporting(opentelemetry!, variables);
  if (options.otlpTracesEndpoint === undefined) return null;
  return {
    endpoint: options.otlpTracesEndpoint,
    headers: options.otlpHeaders ?? {},
    resource: resourceOf({}),
    propagators: options.tracesPropagators,
    batchSize: BATCH_SIZE,
  };
}

function metadataExporting(
  { data_types = [], exporter_otlp = {}, batch_span_processor }: OpenTelemetry,
  variables: OutboundVariables,
): ExporterOptions | null {
  const {
    otlp_traces_endpoint: endpoint,
    traces_propagators = ['b3'],
    resource_attributes = [],
  } = exporter_otlp;
  if (!data_types.includes('traces') || endpoint === undefined) return null;
  const headers = headersOf(exporter_otlp, variables);
  if (headers === null) return null;
  return {
    endpoint,
    headers,
    resource: resourceOf(Object.fromEntries(resource_attributes.map(({ name, value }) => [name, value]))),
    propagators: traces_propagators,
    batchSize: batch_span_processor?.max_export_batch_size ?? BATCH_SIZE,
  };
}

/** Returns null when a variable is not set or is never sent: the configuration is inconsistent, and nothing is
 *  exported. */
function headersOf(
  { headers = [] }: Exporting,
  variables: OutboundVariables,
): Readonly<Record<string, string>> | null {
  try {
    return Object.fromEntries(
      headers.map(({ name, value, value_from_env: variable }) => [
        name,
        variable === undefined ? (value ?? '') : variables(variable),
      ]),
    );
  } catch (error) {
    if (!(error instanceof WebhookFailure)) throw error;
    return null;
  }
}

function resourceOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { 'service.name': 'pergola', 'service.version': VERSION, ...given };
}
