/** The operator's values. Its options are the rows of OPTIONS, those the chart itself sets left out.
 *  Not here: what an option means (operator/kubernetes/options.ts). */
import { OPTIONS } from '../../operator/kubernetes/options.ts';
import { POD_VALUES } from './pod-values.ts';
import { byName, count, flag, group, list, map, OBJECT, text, WORD } from './value.ts';

/** Options with values of their own, and those a pod knows itself. */
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
  enabled: flag('', true),
  replicas: count('More than one is a warm standby: the lease lets one work.', 1),
  clusterName: text(
    'Who this cluster is in the ledger of an engine that several clusters share. Empty is the uid of namespace kube-system, ' +
      'which a restored cluster does not keep and an operator limited to some namespaces may not read.',
    '',
  ),
  watchNamespaces: list('Namespaces to watch; empty is all of them, with a cluster role.', WORD),
  waitingDeletion: flag(
    'May the operator put a finalizer on resources with waitForDeletion: they stay until the engine is without their objects.',
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
    enabled: flag('Let out only to DNS, the API server and engines.', false),
    apiServerPorts: list('', { type: 'integer' }, [443, 6443]),
    egress: list('Further rules, for engines elsewhere.', OBJECT),
  }),
  resources: map('', { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '384Mi' } }),
  ...POD_VALUES,
});
