/** Values both programs have: what surrounds their container. Not here: what they are started with. */
import { count, flag, type Group, group, list, map, NAMED, OBJECT, oneOf, text, WORD } from './value.ts';

export const POD_VALUES: Group['values'] = {
  extraEnv: list('Further variables.', NAMED),
  extraEnvFrom: list('Config maps and secrets whose keys are all variables.', OBJECT),
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
  topologySpread: group('Replicas on different zones and nodes.', {
    enabled: flag('', true),
    whenUnsatisfiable: oneOf('', 'ScheduleAnyway', 'DoNotSchedule'),
    topologyKeys: list('', WORD, ['topology.kubernetes.io/zone', 'kubernetes.io/hostname']),
  }),
  podDisruptionBudget: group('Made where there is more than one replica.', {
    enabled: flag('', true),
    maxUnavailable: count('', 1),
  }),
};
