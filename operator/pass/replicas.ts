/** Whether all replicas serve what a pass wrote. In: the report so far. Out: the report with their state.
 *  Not here: asking them (engine/replica-sync.ts), the verdict of a resource (status/verdicts.ts). */
import { type ReplicaSync, syncReplicas } from '../engine/replica-sync.ts';
import type { CustomResource } from '../kinds.ts';
import type { Ports } from '../ports/ports.ts';
import { withReplicaSync } from '../status/verdicts.ts';
import type { Attempt } from './attempt.ts';

/** Returns the report with the state of the replicas. */
export async function withReplicas(
  { engine, clock }: Ports,
  resources: readonly CustomResource[],
  report: Attempt,
  before: ReplicaSync | undefined,
): Promise<Attempt> {
  if (report.problem || report.resourceVersion === undefined) return report;
  const replicaSync = await syncReplicas(engine, clock, report.resourceVersion, before);
  if (!replicaSync) return report;
  const verdicts = new Map(
    resources.map((cr) => {
      const { uid } = cr.metadata;
      return [uid, withReplicaSync(cr, report.verdicts.get(uid)!, replicaSync)];
    }),
  );
  return { ...report, verdicts, replicaSync };
}
