/** The values that engine and operator share: the environment, volumes and scheduling of their pods. Not here: their options. */
import { count, flag, type Group, group, list, map, NAMED, OBJECT, oneOf, text, WORD } from './value.ts';

export const POD_VALUES: Group['values'] = {
  extraEnv: list('Additional environment variables.', NAMED),
  extraEnvFrom: list('Config maps and secrets whose keys all become variables.', OBJECT),
  extraVolumes: list('', NAMED),
  extraVolumeMounts: list('', NAMED),
  initContainers: list('', NAMED),
  extraContainers: list('', NAMED),
  podAnnotations: map(''),
  podLabels: map(''),
  priorityClassName: text('', ''),
  nodeSelector: map(''),
  tolerations: list('', OBJECT),
  affinity: map(''),
  topologySpread: group('Spread replicas over zones and nodes.', {
    enabled: flag('', true),
    whenUnsatisfiable: oneOf('', 'ScheduleAnyway', 'DoNotSchedule'),
    topologyKeys: list('', WORD, ['topology.kubernetes.io/zone', 'kubernetes.io/hostname']),
  }),
  podDisruptionBudget: group('Created if there is more than one replica.', {
    enabled: flag('', true),
    maxUnavailable: count('', 1),
  }),
};
