/** EngineSettings: settings of an engine as a whole, except limits. Each part, and each host of the TLS allow list, is a separate object,
 *  so several resources may set different parts. */
import { MetricsConfig, OpenTelemetry, secret, Type } from '@pergola/engine/metadata';
import { closed, keyedList, MetadataName, plainList } from './annotate.ts';
import { enumeration } from './enumeration.ts';
import { kindRow, specOf } from './kind.ts';
import { inForm, optional, required, within } from './mapping.ts';
import { project } from './project.ts';
import { Headers, urlTemplate } from './value-source.ts';

const TlsHost = closed({
  host: required('The host name, for example internal.example.com.', MetadataName),
  suffix: required(
    'The port, for example "8443". "" means every port.',
    inForm(Type.String({ maxLength: 255 }), {
      write: (suffix) => suffix || undefined,
      read: (suffix) => suffix,
      missing: '',
    }),
  ),
  allowSelfSigned: optional(
    'Accepts a self-signed certificate of this host. Absent: false, and the entry has no effect.',
    inForm(Type.Boolean(), {
      write: (isAllowed) => (isAllowed ? ['self-signed'] : undefined),
      read: (permissions) => permissions.length > 0 || undefined,
      isWhole: true,
    }),
    'permissions',
  ),
});

const { status: STATUS, data_types: DATA_TYPES, exporter_otlp: EXPORTER } = OpenTelemetry.properties;
const { traces_propagators: PROPAGATORS } = EXPORTER.properties;

/** Returns the field of the URL for a kind of data. */
function endpoint(signal: 'traces' | 'metrics' | 'logs') {
  const description = `The URL for ${signal}, for example {value: "http://collector:4318/v1/${signal}"}.`;
  return Type.Optional(urlTemplate(`otlp_${signal}_endpoint`, description));
}

const Telemetry = closed({
  status: optional(
    'Enabled: as this resource says. Disabled: nothing is sent. Env: as the options of the engine say. Absent: Enabled.',
    enumeration(STATUS),
  ),
  dataTypes: optional(
    'What is sent: Traces, Metrics, Logs. Absent: nothing.',
    plainList(enumeration(DATA_TYPES.items), 3),
  ),
  ...within('exporter_otlp', {
    traces: endpoint('traces'),
    metrics: endpoint('metrics'),
    logs: endpoint('logs'),
    headers: Type.Optional(Headers),
    resourceAttributes: optional(
      'Attributes of every span, metric and line of the log, for example deployment.environment.name.',
      keyedList(
        'name',
        closed({
          name: required('The name of the attribute.', MetadataName),
          value: required('The value of the attribute.', secret(Type.String({ maxLength: 4096 }))),
        }),
        100,
      ),
    ),
    propagators: optional(
      'The headers by which webhooks and remote schemas continue a trace. Absent: B3.',
      plainList(enumeration(PROPAGATORS.items), 2),
      'traces_propagators',
    ),
  }),
  maxExportBatchSize: optional(
    'The most spans of one request to the collector. Absent: 512.',
    Type.Integer({ minimum: 1, maximum: 100_000 }),
    'batch_span_processor.max_export_batch_size',
  ),
});

export const EngineSettingsSpec = specOf({
  introspection: optional(
    'Who may read the schema by introspection.',
    closed({
      disabledForRoles: required(
        'Roles that may not introspect the schema. [] means that every role may.',
        plainList(MetadataName, 500),
      ),
    }),
  ),
  network: optional(
    'Connections to webhooks and remote schemas.',
    closed({
      tlsAllowlist: required(
        'Hosts whose self-signed certificates are accepted.',
        keyedList(['host', 'suffix'], TlsHost, 500),
      ),
    }),
  ),
  metrics: optional('Options of metrics, which this engine only keeps.', project(MetricsConfig)),
  openTelemetry: optional('Where traces, metrics and logs are sent, by OTLP over HTTP.', Telemetry),
});
const PARTS = new Set(['introspection', 'network', 'metrics', 'openTelemetry']);

export const engineSettings = kindRow({
  kind: 'EngineSettings',
  plural: 'enginesettings',
  shortNames: ['gqlset'],
  concerns: 'engine',
  description: 'Settings of an engine as a whole: introspection, TLS, telemetry.',
  spec: EngineSettingsSpec,
  selectableFields: ['.spec.engineRef.name'],
  target: (spec) =>
    Object.keys(spec)
      .filter((key) => PARTS.has(key))
      .join(', ') || 'nothing',
  objects: [
    { kind: 'introspection', at: 'introspection', key: [] },
    { kind: 'tls', at: 'network.tlsAllowlist', key: ['host', 'suffix'] },
    { kind: 'metrics_config', at: 'metrics', key: [] },
    { kind: 'opentelemetry', at: 'openTelemetry', key: [] },
  ],
  drafts: { name: () => 'settings' },
});
