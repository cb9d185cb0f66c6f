/** EngineSettings: settings of an engine as a whole, except limits. Each part, and each host of the TLS allow list, is a separate object,
 *  so several resources may set different parts. */
import {
  type MetadataObject,
  MetricsConfig,
  OpenTelemetry,
  objectKey,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { closed, keyedList, MetadataName, plainList, withDescription } from './annotate.ts';
import { type Inventory, kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';
import { project, projectValue, unproject } from './project.ts';

const TlsHost = closed({
  host: MetadataName,
  suffix: withDescription('The port or a path; "" matches any.', Type.String({ maxLength: 255 })),
  permissions: Type.Optional(plainList(Type.Literal('self-signed'), 1)),
});

export const EngineSettingsSpec = specOf({
  introspection: Type.Optional(
    closed({
      disabledForRoles: withDescription(
        'Roles that may not introspect the schema.',
        plainList(MetadataName, 500),
      ),
    }),
  ),
  network: Type.Optional(
    closed({
      tlsAllowlist: withDescription(
        'Hosts whose certificates are accepted from unknown authorities.',
        keyedList(['host', 'suffix'], TlsHost, 500),
      ),
    }),
  ),
  metrics: Type.Optional(withDescription('Options of metrics.', project(MetricsConfig))),
  openTelemetry: Type.Optional(
    withDescription('Where traces, metrics and logs are sent.', project(OpenTelemetry)),
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
  translate: (spec) => settingsObjects(spec),
  describe: describeSettings,
});

const PARTS = new Set(['introspection', 'network', 'metrics', 'openTelemetry']);

function settingsObjects(spec: EngineSettingsSpec): readonly MetadataObject[] {
  const { introspection, network, metrics, openTelemetry } = spec;
  const singleton = (kind: 'introspection' | 'metrics_config' | 'opentelemetry', definition: unknown) =>
    definition === undefined ? [] : [{ key: objectKey(kind), kind, parent: null, definition }];
  return [
    ...singleton('introspection', introspection && { disabled_for_roles: introspection.disabledForRoles }),
    ...(network?.tlsAllowlist ?? []).map(
      ({ host, suffix, permissions }): MetadataObject => ({
        key: objectKey('tls', host, suffix),
        kind: 'tls',
        parent: null,
        definition: { host, ...(suffix === '' ? {} : { suffix }), permissions },
      }),
    ),
    ...singleton('metrics_config', metrics && unproject(MetricsConfig, metrics)),
    ...singleton('opentelemetry', openTelemetry && unproject(OpenTelemetry, openTelemetry)),
  ];
}

function describeSettings(inventory: Inventory): readonly ResourceDraft[] {
  const of = (kind: MetadataObject['kind']) => inventory.all(kind)[0]?.definition;
  const introspection = of('introspection') as { readonly disabled_for_roles: readonly string[] } | undefined;
  const hosts = inventory.all('tls').map(({ definition }) => ({ suffix: '', ...(definition as object) }));
  const metrics = of('metrics_config');
  const openTelemetry = of('opentelemetry');
  const spec = {
    introspection: introspection && { disabledForRoles: introspection.disabled_for_roles },
    network: hosts.length > 0 ? { tlsAllowlist: hosts } : undefined,
    metrics: metrics && projectValue(MetricsConfig, metrics),
    openTelemetry: openTelemetry && projectValue(OpenTelemetry, openTelemetry),
  };
  return Object.values(spec).some((part) => part !== undefined) ? [{ name: 'settings', spec }] : [];
}
