/** Writes deploy/kustomize/pergola.yaml (`npm run generate`): what the chart renders by default, for those who do not use Helm. kustomize adds
 *  the definitions (crds/kustomization.yaml). generate.test.ts compares the result with the chart.
 *  In: helm on PATH; without it the file is not written. Not here: the chart (charts/pergola). */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump, loadAll } from 'js-yaml';
import { findProgram } from '../../testing/helm.ts';

const ROOT = join(import.meta.dirname, '../..');
export const NAMESPACE = 'pergola';
export const FILE = join(import.meta.dirname, 'pergola.yaml');

const HEADER =
  '# Generated from charts/pergola by `make generate`; edits are lost. Change it with a kustomization of your own.\n';

const CLUSTER_WIDE = ['CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding'];

/** The labels and the annotation by which Helm and Argo CD know their own objects. */
const OF_HELM = [
  'helm.sh/chart',
  'app.kubernetes.io/managed-by',
  'helm.sh/resource-policy',
  'argocd.argoproj.io/sync-wave',
];

// biome-ignore lint/suspicious/noExplicitAny: an object of Kubernetes
type Manifest = any;

/** Returns the objects that the chart renders by default, without those of Helm's tests, and without what marks objects as Helm's. */
export function objectsOfChart(helm: string, ...args: readonly string[]): readonly Manifest[] {
  const command = ['template', 'pergola', join(ROOT, 'charts/pergola'), '--namespace', NAMESPACE, ...args];
  const text = execFileSync(helm, command, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20, stdio: 'pipe' });
  const objects = loadAll(text).filter(
    (object) => object !== null && object !== undefined,
  ) as readonly Manifest[];
  return objects
    .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined)
    .map((object) => withoutHelm(object));
}

/** Returns the objects with their namespace. With it, kustomize changes the subjects of cluster roles, too, when it sets another. */
export function inNamespace(namespace: string, objects: readonly Manifest[]): readonly Manifest[] {
  return objects.map((object) =>
    CLUSTER_WIDE.includes(object.kind) ? object : { ...object, metadata: { ...object.metadata, namespace } },
  );
}

/** Removes the marks of Helm from an object and all that is in it, such as the template of a pod. */
function withoutHelm(value: Manifest): Manifest {
  if (Array.isArray(value)) return value.map(withoutHelm);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !OF_HELM.includes(name));
  const clean = Object.fromEntries(kept.map(([name, inner]) => [name, withoutHelm(inner)]));
  // The definitions have no other annotation.
  if (clean['annotations'] && Object.keys(clean['annotations']).length === 0) delete clean['annotations'];
  return clean;
}

/** Returns the content of pergola.yaml. */
export function manifests(helm: string): string {
  const objects = inNamespace(NAMESPACE, objectsOfChart(helm, '--set', 'crds.enabled=false'));
  return `${HEADER}${objects.map((object) => `---\n${dump(object, { noRefs: true, lineWidth: 110 })}`).join('')}`;
}

if (import.meta.main) {
  const helm = findProgram('helm');
  if (helm === undefined)
    process.stderr.write('helm is not on PATH: deploy/kustomize/pergola.yaml stays as it is\n');
  else writeFileSync(FILE, manifests(helm));
}
