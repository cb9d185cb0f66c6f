/** A rig for tests of deletion: the operator has the rights of the chart with `operator.waitingDeletion`, and a team has a namespace.
 *  Not here: what is tested (../deletion.kube.test.ts, ../deletion-order.kube.test.ts). */
import { vi } from 'vitest';
import type { Helm } from '../../../testing/helm.ts';
import type { TestKube } from '../../../testing/kube.ts';
import type { Operator } from '../operator.ts';
import { createRig, type Rig, tokenOf } from './rig.ts';
import { rightsOf } from './rights.ts';

/** The namespace of the team, which the Engine of the rig admits. */
export const TEAM = 'team';

export const WAITS = { waitForDeletion: true };

export async function createDeletionRig(
  kube: TestKube,
  helm: Helm,
  schema: string,
): Promise<{ readonly rig: Rig; readonly operator: Operator }> {
  const rig = await createRig(kube, schema, async () => {
    await kube.apply(...(await rightsOf(helm, { operator: { waitingDeletion: true } })));
    return tokenOf(kube, 'pergola-operator');
  });
  const metadata = { name: TEAM, labels: { graphql: 'yes' } };
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
  return { rig, operator: await rig.startOperator() };
}

export function eventually<T>(look: () => Promise<T>, seconds = 30): Promise<T> {
  return vi.waitFor(look, { timeout: seconds * 1000, interval: 50 });
}
