/** What the chart lets the operator do, as helm renders it, in the namespace tests run it in.
 *  Not here: whether it is enough, or too much (../rights.kube.test.ts). */
import type { Helm } from '../../../testing/helm.ts';
import type { KubeObject } from '../../../testing/kube.ts';
import { HOME } from './rig.ts';

const CLUSTER_WIDE = ['ClusterRole', 'ClusterRoleBinding'];
const RIGHTS = [...CLUSTER_WIDE, 'Role', 'RoleBinding', 'ServiceAccount'];

/** Of the operator, as its release has them. */
export async function rightsOf(helm: Helm, values: object): Promise<readonly KubeObject[]> {
  const objects = await helm.template(values);
  return objects
    .filter(({ kind, metadata }) => RIGHTS.includes(kind) && metadata.name.includes('pergola-operator'))
    .map((object) =>
      CLUSTER_WIDE.includes(object.kind)
        ? object
        : { ...object, metadata: { ...object.metadata, namespace: HOME } },
    );
}
