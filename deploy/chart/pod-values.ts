/** The values that engine and operator share: the environment, volumes, security, probes and scheduling of their pods. Not here: their options. */
import { count, flag, type Group, group, list, map, NAMED, OBJECT, oneOf, text, WORD } from './value.ts';

const PROBE = 'Members given here are added to those of the chart, or replace them.';
const SECURITY = 'Members given here replace those of the chart, which meet the standard "restricted".';

/** The defaults that differ between engine and operator. */
type Defaults = {
  readonly strategy: object;
  readonly startupProbe: object;
  readonly readinessProbe: object;
  readonly livenessProbe: object;
};

export function podValues(defaults: Defaults): Group['values'] {
  return {
    extraEnv: list('Additional environment variables.', NAMED),
    extraEnvFrom: list('Config maps and secrets whose keys all become variables.', OBJECT),
    extraVolumes: list('Additional volumes of the pod.', NAMED),
    extraVolumeMounts: list('Where the container mounts them.', NAMED),
    initContainers: list('Containers that run before it, such as one that waits for a proxy.', NAMED),
    extraContainers: list('Containers beside it, such as a proxy of a cloud database.', NAMED),
    podAnnotations: map('Annotations of the pods.'),
    podLabels: map('Labels of the pods, besides those of the chart.'),
    priorityClassName: text('The priority class of the pods.', ''),
    nodeSelector: map('Labels that a node must have.'),
    tolerations: list('Taints of nodes that the pods tolerate.', OBJECT),
    affinity: map('Rules of affinity, besides topologySpread.'),
    topologySpread: group('Spread replicas over zones and nodes.', {
      enabled: flag('', true),
      whenUnsatisfiable: oneOf(
        'Whether a pod that cannot be spread is scheduled all the same.',
        'ScheduleAnyway',
        'DoNotSchedule',
      ),
      topologyKeys: list('The labels of nodes that name a zone or a host.', WORD, [
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ]),
    }),
    podDisruptionBudget: group('Created if there is more than one replica.', {
      enabled: flag('', true),
      maxUnavailable: count('How many replicas may be away at once.', 1),
    }),
    strategy: map('How new pods replace old ones, as in a Deployment.', defaults.strategy),
    startupProbe: map(`The startup probe. ${PROBE}`, defaults.startupProbe),
    readinessProbe: map(`The readiness probe. ${PROBE}`, defaults.readinessProbe),
    livenessProbe: map(`The liveness probe. ${PROBE}`, defaults.livenessProbe),
    podSecurityContext: map(`The security context of the pods. ${SECURITY}`),
    containerSecurityContext: map(`The security context of the container. ${SECURITY}`),
    serviceAccountName: text('A service account that exists; if empty, the release creates one.', ''),
    runtimeClassName: text('The runtime class of the pods.', ''),
    dnsPolicy: text('The DNS policy of the pods; if empty, ClusterFirst.', ''),
    dnsConfig: map('The DNS settings of the pods.'),
    hostAliases: list('Entries of /etc/hosts in the pods.', OBJECT),
  };
}
