/** The values that engine and operator share: the environment, volumes and scheduling of their pods. Not here: their options. */
import { count, flag, type Group, group, list, map, NAMED, OBJECT, oneOf, text, WORD } from './value.ts';

export const POD_VALUES: Group['values'] = {
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
};
