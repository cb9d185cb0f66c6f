/** Is there a trace to be made of an operation, and where does it go: the metadata says so (`set_opentelemetry_config`), or,
 *  where it says nothing or `env`, the options. Off, it costs a look at the metadata.
 *  Not here: spans and their way out (observe/), what is within an operation (execute/answer.ts).
 *  Reference: features.md 1.17; metadata-model.md, OtelConfig. */
import type { EngineState } from '../admin/state.ts';
import { type Options, SECRET_VARIABLES } from '../config/options.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Observe } from '../observe/observation.ts';
import type { Span } from '../observe/span.ts';
import { type ExporterOptions, SpanExporter, type TraceHeaders } from '../observe/span-exporter.ts';
import { agentFor } from '../outgoing/http-client.ts';
import { VERSION } from './version.ts';

type OpenTelemetry = NonNullable<Metadata['opentelemetry']>;
type Exporting = NonNullable<OpenTelemetry['exporter_otlp']>;

const BATCH_SIZE = 512;

export class Tracing {
  readonly #options: Options;
  readonly #state: EngineState;
  readonly #observe: Observe;
  #configured: { readonly [K in 'opentelemetry' | 'network']: Metadata[K] } | null = null;
  #exporter: SpanExporter | null = null;

  constructor(options: Options, state: EngineState, observe: Observe) {
    this.#options = options;
    this.#state = state;
    this.#observe = observe;
  }

  /** A span for an operation, within the caller's trace if there is one; null where none is to be recorded. */
  begin(name: string, headers: TraceHeaders): Span | null {
    const { metadata } = this.#state.snapshot();
    const { opentelemetry, network } = metadata;
    const known = this.#configured;
    if (known?.opentelemetry !== opentelemetry || known?.network !== network || !known)
      this.#configure(metadata);
    return this.#exporter?.begin(name, headers) ?? null;
  }

  async close(): Promise<void> {
    await this.#exporter?.close();
  }

  #configure({ opentelemetry, network }: Metadata): void {
    this.#configured = { opentelemetry, network };
    void this.#exporter?.close();
    const exporting = exportingOf(opentelemetry, this.#options, this.#state.env);
    this.#exporter = exporting && new SpanExporter(this.#connected(exporting), this.#observe);
  }

  /** Over connections that obey the allow list; whether an endpoint is a URL at all the exporter says. */
  #connected(exporting: ExporterOptions): ExporterOptions {
    const url = URL.parse(exporting.endpoint);
    return url ? { ...exporting, agent: agentFor(url, this.#state.trusts) } : exporting;
  }
}

function exportingOf(
  opentelemetry: OpenTelemetry | undefined,
  options: Options,
  env: EngineState['env'],
): ExporterOptions | null {
  const status = opentelemetry ? (opentelemetry.status ?? 'disabled') : 'env';
  if (status === 'disabled') return null;
  if (status === 'enabled') return metadataExporting(opentelemetry!, env);
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
  env: EngineState['env'],
): ExporterOptions | null {
  const {
    otlp_traces_endpoint: endpoint,
    traces_propagators = ['b3'],
    resource_attributes = [],
  } = exporter_otlp;
  if (!data_types.includes('traces') || endpoint === undefined) return null;
  return {
    endpoint,
    headers: headersOf(exporter_otlp, env),
    resource: resourceOf(Object.fromEntries(resource_attributes.map(({ name, value }) => [name, value]))),
    propagators: traces_propagators,
    batchSize: batch_span_processor?.max_export_batch_size ?? BATCH_SIZE,
  };
}

/** A variable that is not set, or is a secret of the engine's, leaves its header out: the collector will say what it misses. */
function headersOf({ headers = [] }: Exporting, env: EngineState['env']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.flatMap(({ name, value, value_from_env: variable }) => {
      const given =
        variable === undefined ? value : SECRET_VARIABLES.has(variable) ? undefined : env[variable];
      return given === undefined ? [] : [[name, given]];
    }),
  );
}

function resourceOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { 'service.name': 'pergola', 'service.version': VERSION, ...given };
}
