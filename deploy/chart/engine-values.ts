/** The values of the engine. `engine.options` has the rows of OPTIONS except those that the chart itself sets, so a misspelled
 *  option is refused before anything is installed. Not here: what an option means (engine/config/options.ts). */
import { OPTIONS, type OptionRow } from '../../engine/config/options.ts';
import { podValues } from './pod-values.ts';
import {
  byName,
  count,
  filledList,
  flag,
  group,
  KEY_OF_SECRET,
  keyOf,
  list,
  map,
  OBJECT,
  oneOf,
  text,
  WORD,
} from './value.ts';

/** The options that the chart sets from other values. */
const SET_BY_THE_CHART = [
  'database-url',
  'metadata-database-url',
  'admin-secret',
  'admin-secret-path',
  'console-secret',
  'console-secret-path',
  'values-key-file',
  'enable-console',
  'metrics-secret',
  'server-port',
  'server-host',
];

const ROWS = Object.entries<OptionRow<unknown, unknown>>(OPTIONS).filter(
  ([name]) => !SET_BY_THE_CHART.includes(name),
);

/** The paths that clients need; the admin API is not exposed. */
const PUBLIC_PATHS = ['/v1/graphql', '/v1beta1/relay', '/api/rest'];

export const ENGINE_VALUES = group(undefined, {
  enabled: flag(
    'Install the engine. Without it, the operator works for engines that other releases install.',
    true,
  ),
  replicas: count('How many engines serve; all of them have the same metadata.', 1),
  autoscaling: group('Scale by CPU use, instead of replicas.', {
    enabled: flag('', false),
    minReplicas: count('The least engines that serve.', 2, 1),
    maxReplicas: count('The most engines that serve.', 10, 1),
    targetCPUUtilizationPercentage: count('Per cent of the requested CPU.', 70, 1),
    behavior: map('How fast the number changes, as in a HorizontalPodAutoscaler.', {
      scaleDown: { stabilizationWindowSeconds: 300 },
    }),
  }),
  database: keyOf(
    'The secret with the URL of the database to serve: postgres://…',
    'pergola-database',
    'url',
  ),
  metadataDatabase: keyOf(
    'The secret with the URL of the database that stores the metadata; if empty, the same database.',
    '',
    'url',
  ),
  adminSecret: group(
    'The secret with the admin secret. It is required, so that an installation is never open by accident.',
    {
      ...keyOf(undefined, 'pergola-admin', 'admin-secret').values,
      secondaryKey: text(
        'A key that may be missing: another admin secret, accepted as well while the admin secret is replaced.',
        'secondary-admin-secret',
      ),
    },
  ),
  valuesKey: keyOf(
    'The secret with the keys that encrypt named values, one a line: the first encrypts, all decrypt. If empty, the operator creates one, NAME-values-key, which is kept when the release is uninstalled.',
    '',
    'values-key',
  ),
  console: group(undefined, {
    enabled: flag('Serve the console at /console/.', false),
    secret: group(
      'The secret with the console secret, which reads what the console shows and changes nothing. If empty, there is none.',
      {
        ...keyOf(undefined, '', 'console-secret').values,
        secondaryKey: text(
          'A key that may be missing: another console secret, accepted as well while the console secret is replaced.',
          'secondary-console-secret',
        ),
      },
    ),
  }),
  options: byName(
    'Options of `pergola serve` by the name of their flag, such as pg-connections: 20; see docs/reference/options.md.',
    Object.fromEntries(
      ROWS.filter(([, row]) => !row.isSecret).map(([name, { type }]) => [
        name,
        type.schema ?? { type: 'string' },
      ]),
    ),
  ),
  secretOptions: byName(
    'Options that hold secrets: jwt-secret: {existingSecret: …, key: …}.',
    Object.fromEntries(ROWS.filter(([, row]) => row.isSecret).map(([name]) => [name, KEY_OF_SECRET])),
  ),
  service: group(undefined, {
    type: oneOf('The type of the service.', 'ClusterIP', 'NodePort', 'LoadBalancer'),
    port: count('The port of the service.', 8080, 1, 65_535),
    annotations: map('Annotations of the service.'),
  }),
  ingress: group('An ingress for clients; its paths do not include the admin API.', {
    enabled: flag('', false),
    className: text('The class of the ingress; if empty, the default of the cluster.', ''),
    annotations: map('Annotations of the ingress.'),
    hosts: list('The host names; at least one.', WORD),
    paths: filledList('The paths that clients reach.', WORD, PUBLIC_PATHS),
    tls: list('Hosts with the secrets of their certificates, as in an Ingress.', OBJECT),
  }),
  httpRoute: group('An HTTPRoute for clients, for a Gateway.', {
    enabled: flag('', false),
    parentRefs: list('The gateways that the route belongs to; at least one.', OBJECT),
    hostnames: list('The host names; if empty, those of the gateway.', WORD),
    paths: filledList('The paths that clients reach.', WORD, PUBLIC_PATHS),
    annotations: map('Annotations of the route.'),
  }),
  networkPolicy: group(undefined, {
    enabled: flag('Admit connections only from the operator and from the peers in `from`.', false),
    from: list('Peers; if empty, every pod of the cluster.', OBJECT),
  }),
  resources: map(
    'What the container requests, and its limits. Caches and limits of requests follow the memory.',
    { requests: { cpu: '100m', memory: '192Mi' }, limits: { memory: '512Mi' } },
  ),
  preStopSeconds: count(
    'How long a pod that is stopped continues to serve, until all nodes stop sending requests to it: the option shutdown-delay.',
    5,
  ),
  terminationGracePeriodSeconds: count(
    'At least preStopSeconds plus the option graceful-shutdown-timeout (60).',
    75,
  ),
  ...podValues({
    // A new pod is Ready before an old one is stopped.
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    startupProbe: { periodSeconds: 2, failureThreshold: 60 },
    readinessProbe: { periodSeconds: 5 },
    livenessProbe: { periodSeconds: 10, failureThreshold: 6 },
  }),
});
