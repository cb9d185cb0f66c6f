/** The values of the operator. `operator.options` has the rows of OPTIONS except those that the chart itself sets.
 *  Not here: what an option means (operator/kubernetes/options.ts). */
import { OPTIONS } from '../../operator/kubernetes/options.ts';
import { podValues } from './pod-values.ts';
import { byName, count, filledList, flag, group, list, map, OBJECT, text, WORD } from './value.ts';

/** The options that the chart sets from other values, or from the pod's own metadata. */
const SET_BY_THE_CHART = [
  'watch-namespaces',
  'cluster-name',
  'health-host',
  'health-port',
  'lease-name',
  'lease-namespace',
  'identity',
];

const SCHEMAS = {
  TEXT: { type: 'string' },
  NUMBER: { type: 'integer', minimum: 0 },
  BOOLEAN: { type: 'boolean' },
  LIST: { type: 'array', items: { type: 'string' } },
} as const;

export const OPERATOR_VALUES = group(undefined, {
  enabled: flag('Install the operator. Without it, the metadata is changed by the admin API alone.', true),
  replicas: count('More than one are warm standbys: a lease lets one work at a time.', 1),
  clusterName: text(
    'The name of this cluster in the ledger of an engine that several clusters share. If empty, the name that the lease of the operator keeps, ' +
      'at first the uid of namespace kube-system. A restored cluster has neither.',
    '',
  ),
  watchNamespaces: list('Namespaces to watch; if empty, all, with a cluster role.', WORD),
  waitingDeletion: flag(
    'Let the operator add finalizers to resources and Engines with waitForDeletion, so that they stay until the engine no longer has their objects.',
    false,
  ),
  options: byName(
    'Options of `pergola operator` by the name of their flag, such as log-level: debug; see docs/reference/options.md.',
    Object.fromEntries(
      Object.entries(OPTIONS)
        .filter(([name]) => !SET_BY_THE_CHART.includes(name))
        .map(([name, { value }]) => [name, SCHEMAS[value]]),
    ),
  ),
  networkPolicy: group(undefined, {
    enabled: flag('Allow connections only to DNS, the API server and engines.', false),
    apiServerPorts: filledList('The ports of the API server.', { type: 'integer' }, [443, 6443]),
    egress: list('Additional rules, for engines outside the namespaces.', OBJECT),
  }),
  resources: map('What the container requests, and its limits.', {
    requests: { cpu: '50m', memory: '128Mi' },
    limits: { memory: '384Mi' },
  }),
  ...podValues({
    strategy: {},
    startupProbe: { periodSeconds: 2, failureThreshold: 60 },
    readinessProbe: { periodSeconds: 5 },
    livenessProbe: { periodSeconds: 15, failureThreshold: 4 },
  }),
});
