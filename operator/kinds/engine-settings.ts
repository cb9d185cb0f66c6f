/** EngineSettings: settings of an engine as a whole, except limits. Each part, and each host of the TLS allow list, is a separate object,
 *  so several resources may set different parts. */
import {
  type MetadataObject,
  MetricsConfig,
  OpenTelemetry,
  objectKey,
  type Static,
  type TlsAllowEntry,
  Type,
} from '@pergola/engine/metadata';
import { closed, keyedList, MetadataName, plainList, withDescription } from './annotate.ts';
import { enumeration, metadataValue, pascalCase } from './enumeration.ts';
import {
  type Inventory,
  kindRow,
  OBJECT_COLUMNS,
  type ResourceDraft,
  specOf,
  type TranslateContext,
} from './kind.ts';
import { project, projectValue, unproject } from './project.ts';
import {
  describeHeaders,
  describeTemplate,
  Headers,
  headersOf,
  readValue,
  templateFor,
  urlSource,
} from './value-source.ts';

const TlsHost = closed({
  host: withDescription('The host name, for example internal.example.com.', MetadataName),
  suffix: withDescription(
    'The port, for example "8443". "" means every port.',
    Type.String({ maxLength: 255 }),
  ),
  allowSelfSigned: Type.Optional(
    Type.Boolean({
      description:
        'Accepts a self-signed certificate of this host. Absent: false, and the entry has no effect.',
    }),
  ),
});

const { status: STATUS, data_types: DATA_TYPES, exporter_otlp: EXPORTER } = OpenTelemetry.properties;
const { traces_propagators: PROPAGATORS } = EXPORTER.properties;

/** The kinds of data, and the fields of their endpoints in the metadata. */
const ENDPOINTS = [
  ['traces', 'otlp_traces_endpoint'],
  ['metrics', 'otlp_metrics_endpoint'],
  ['logs', 'otlp_logs_endpoint'],
] as const;

const Telemetry = closed({
  status: Type.Optional(
    withDescription(
      'Enabled: as this resource says. Disabled: nothing is sent. Env: as the options of the engine say. Absent: Enabled.',
      enumeration(STATUS),
    ),
  ),
  dataTypes: Type.Optional(
    withDescription(
      'What is sent: Traces, Metrics, Logs. Absent: nothing.',
      plainList(enumeration(DATA_TYPES.items), 3),
    ),
  ),
  traces: Type.Optional(
    urlSource('The URL for traces, for example {value: "http://collector:4318/v1/traces"}.'),
  ),
  metrics: Type.Optional(
    urlSource('The URL for metrics, for example {value: "http://collector:4318/v1/metrics"}.'),
  ),
  logs: Type.Optional(urlSource('The URL for logs, for example {value: "http://collector:4318/v1/logs"}.')),
  headers: Type.Optional(Headers),
  resourceAttributes: Type.Optional(
    withDescription(
      'Attributes of every span, metric and line of the log, for example deployment.environment.name.',
      keyedList(
        'name',
        closed({
          name: withDescription('The name of the attribute.', MetadataName),
          value: withDescription('The value of the attribute.', Type.String({ maxLength: 4096 })),
        }),
        100,
      ),
    ),
  ),
  propagators: Type.Optional(
    withDescription(
      'The headers by which webhooks and remote schemas continue a trace. Absent: B3.',
      plainList(enumeration(PROPAGATORS.items), 2),
    ),
  ),
  maxExportBatchSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: 'The most spans of one request to the collector. Absent: 512.',
    }),
  ),
});
type Telemetry = Static<typeof Telemetry>;

export const EngineSettingsSpec = specOf({
  introspection: Type.Optional(
    withDescription(
      'Who may read the schema by introspection.',
      closed({
        disabledForRoles: withDescription(
          'Roles that may not introspect the schema. [] means that every role may.',
          plainList(MetadataName, 500),
        ),
      }),
    ),
  ),
  network: Type.Optional(
    withDescription(
      'Connections to webhooks and remote schemas.',
      closed({
        tlsAllowlist: withDescription(
          'Hosts whose self-signed certificates are accepted.',
          keyedList(['host', 'suffix'], TlsHost, 500),
        ),
      }),
    ),
  ),
  metrics: Type.Optional(
    withDescription('Options of metrics, which this engine only keeps.', project(MetricsConfig)),
  ),
  openTelemetry: Type.Optional(
    withDescription('Where traces, metrics and logs are sent, by OTLP over HTTP.', Telemetry),
  ),
});
type EngineSettingsSpec = Static<typeof EngineSettingsSpec>;

export const engineSettings = kindRow({
  kind: 'EngineSettings',
  plural: 'enginesettings',
  singular: 'enginesettings',
  shortNames: ['gqlset'],
  concerns: 'engine',
  description: 'Settings of an engine as a whole: introspection, TLS, telemetry.',
  spec: EngineSettingsSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name'],
  deletionPolicy: 'Delete',
  target: (spec) =>
    Object.keys(spec)
      .filter((key) => PARTS.has(key))
      .join(', ') || 'nothing',
  translate: (spec, context) => settingsObjects(spec, context),
  fieldPaths: (_, { kind }) =>
    kind === 'opentelemetry'
      ? (['traces', 'metrics', 'logs'] as const).map((signal) => ({
          at: `spec.openTelemetry.${signal}`,
          of: ['exporter_otlp', `otlp_${signal}_endpoint`],
        }))
      : [],
  describe: describeSettings,
});

const PARTS = new Set(['introspection', 'network', 'metrics', 'openTelemetry']);

function settingsObjects(spec: EngineSettingsSpec, context: TranslateContext): readonly MetadataObject[] {
  const { introspection, network, metrics, openTelemetry } = spec;
  const singleton = (kind: 'introspection' | 'metrics_config' | 'opentelemetry', definition: unknown) =>
    definition === undefined ? [] : [{ key: objectKey(kind), kind, parent: null, definition }];
  return [
    ...singleton('introspection', introspection && { disabled_for_roles: introspection.disabledForRoles }),
    ...(network?.tlsAllowlist ?? []).map(
      ({ host, suffix, allowSelfSigned }): MetadataObject => ({
        key: objectKey('tls', host, suffix),
        kind: 'tls',
        parent: null,
        definition: {
          host,
          ...(suffix === '' ? {} : { suffix }),
          ...(allowSelfSigned ? { permissions: ['self-signed'] } : {}),
        },
      }),
    ),
    ...singleton('metrics_config', metrics && unproject(MetricsConfig, metrics)),
    ...singleton('opentelemetry', openTelemetry && telemetryOf(openTelemetry, context)),
  ];
}

function telemetryOf(given: Telemetry, context: TranslateContext): object {
  const endpoints = ENDPOINTS.flatMap(([field, name]) => {
    const source = given[field];
    if (!source) return [];
    return [[name, templateFor(readValue(source, `spec.openTelemetry.${field}`, context))]];
  });
  const exporter = {
    ...Object.fromEntries(endpoints),
    headers: headersOf(given.headers, context, 'spec.openTelemetry.headers'),
    resource_attributes: given.resourceAttributes,
    traces_propagators: given.propagators?.map((name) => metadataValue(PROPAGATORS.items, name)),
  };
  return {
    status: given.status && metadataValue(STATUS, given.status),
    data_types: given.dataTypes?.map((name) => metadataValue(DATA_TYPES.items, name)),
    ...(Object.values(exporter).some((value) => value !== undefined) ? { exporter_otlp: exporter } : {}),
    ...(given.maxExportBatchSize === undefined
      ? {}
      : { batch_span_processor: { max_export_batch_size: given.maxExportBatchSize } }),
  };
}

function describeTelemetry(given: Static<typeof OpenTelemetry>): object {
  const { exporter_otlp: exporter = {} } = given;
  const endpoints = ENDPOINTS.map(([field, name]) => {
    const template = exporter[name];
    return [field, template === undefined ? undefined : describeTemplate(template)];
  });
  return {
    status: given.status && pascalCase(given.status),
    dataTypes: given.data_types?.map(pascalCase),
    ...Object.fromEntries(endpoints),
    headers: describeHeaders(exporter.headers),
    resourceAttributes: exporter.resource_attributes,
    propagators: exporter.traces_propagators?.map(pascalCase),
    maxExportBatchSize: given.batch_span_processor?.max_export_batch_size,
  };
}

function describeSettings(inventory: Inventory): readonly ResourceDraft[] {
  const of = (kind: MetadataObject['kind']) => inventory.all(kind)[0]?.definition;
  const introspection = of('introspection') as { readonly disabled_for_roles: readonly string[] } | undefined;
  const hosts = inventory.all('tls').map(({ definition }) => {
    const { host, suffix = '', permissions = [] } = definition as TlsAllowEntry;
    return { host, suffix, ...(permissions.length > 0 ? { allowSelfSigned: true } : {}) };
  });
  const metrics = of('metrics_config');
  const openTelemetry = of('opentelemetry') as Static<typeof OpenTelemetry> | undefined;
  const spec = {
    introspection: introspection && { disabledForRoles: introspection.disabled_for_roles },
    network: hosts.length > 0 ? { tlsAllowlist: hosts } : undefined,
    metrics: metrics && projectValue(MetricsConfig, metrics),
    openTelemetry: openTelemetry && describeTelemetry(openTelemetry),
  };
  return Object.values(spec).some((part) => part !== undefined) ? [{ name: 'settings', spec }] : [];
}
