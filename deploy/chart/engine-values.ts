/** The engine's values. Its options are the rows of OPTIONS, those the chart itself sets left out, so that a misspelt one is
 *  refused before anything is installed. Not here: what an option means (engine/config/options.ts). */
import { OPTIONS, type OptionRow } from '../../engine/config/options.ts';
import { POD_VALUES } from './pod-values.ts';
import {
  byName,
  count,
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

/** Options with values of their own. */
const SET_BY_THE_CHART = [
  'database-url',
  'metadata-database-url',
  'admin-secret',
  'enable-console',
  'metrics-secret',
  'server-port',
  'server-host',
];

const ROWS = Object.entries<OptionRow<unknown, unknown>>(OPTIONS).filter(
  ([name]) => !SET_BY_THE_CHART.includes(name),
);

/** What a client needs: the admin API stays inside the cluster. */
const PUBLIC_PATHS = ['/v1/graphql', '/v1beta1/relay', '/api/rest'];

export const ENGINE_VALUES = group(undefined, {
  enabled: flag('', true),
  replicas: count('', 1),
  autoscaling: group('Instead of replicas.', {
    enabled: flag('', false),
    minReplicas: count('', 2, 1),
    maxReplicas: count('', 10, 1),
    targetCPUUtilizationPercentage: count('Of the requested CPU.', 70, 1),
    behavior: map('', { scaleDown: { stabilizationWindowSeconds: 300 } }),
  }),
  database: keyOf('Where the data is: a key that holds postgres://…', 'pergola-database', 'url'),
  metadataDatabase: keyOf('Where the metadata document is kept; empty is the same database.', '', 'url'),
  adminSecret: keyOf(
    'The admin secret: required, so that an installation is never open by accident.',
    'pergola-admin',
    'admin-secret',
  ),
  console: group(undefined, { enabled: flag('', false) }),
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
    'Options that are secrets: jwt-secret: {existingSecret: …, key: …}.',
    Object.fromEntries(ROWS.filter(([, row]) => row.isSecret).map(([name]) => [name, KEY_OF_SECRET])),
  ),
  service: group(undefined, {
    type: oneOf('', 'ClusterIP', 'NodePort', 'LoadBalancer'),
    port: count('', 8080, 1, 65_535),
    annotations: map(''),
  }),
  ingress: group('For clients; the admin API is not among its paths.', {
    enabled: flag('', false),
    className: text('', ''),
    annotations: map(''),
    hosts: list('', WORD),
    paths: list('', WORD, PUBLIC_PATHS),
    tls: list('', OBJECT),
  }),
  httpRoute: group('The same for a Gateway.', {
    enabled: flag('', false),
    parentRefs: list('', OBJECT),
    hostnames: list('', WORD),
    paths: list('', WORD, PUBLIC_PATHS),
    annotations: map(''),
  }),
  networkPolicy: group(undefined, {
    enabled: flag('Let in only the operator and whom `from` names.', false),
    from: list('Peers; empty is every pod of the cluster.', OBJECT),
  }),
  resources: map('', { requests: { cpu: '100m', memory: '192Mi' }, limits: { memory: '512Mi' } }),
  preStopSeconds: count('How long a pod that ends still serves, while others learn that it does.', 5),
  terminationGracePeriodSeconds: count(
    'preStopSeconds and the option graceful-shutdown-timeout (60), and a little.',
    75,
  ),
  ...POD_VALUES,
});
