/** Installs what the tests need: a namespace under pod security "restricted", a Postgres that outlives releases, and the chart.
 *  In: PERGOLA_IMAGE, E2E_POSTGRES_IMAGE, E2E_SOURCES_IMAGE, E2E_PREVIOUS_IMAGE (deploy/e2e/run). Not here: custom resources (examples.ts). */
import { PREVIOUS, previousRelease } from '../release/previous.ts';
import { apply, get, kubectl, type Printed, run, waitFor } from './cluster.ts';

export const CHART = 'charts/pergola';
/** The chart of the previous release (deploy/e2e/previous). */
export const PREVIOUS_CHART = `${PREVIOUS}/pergola-${previousRelease().version}.tgz`;
export const ADMIN_SECRET = 'e2e-admin-secret';
export const IMAGE = process.env['PERGOLA_IMAGE'] ?? '';
export const POSTGRES_IMAGE = process.env['E2E_POSTGRES_IMAGE'] ?? '';

const POSTGRES_PASSWORD = 'e2e';
/** A registry may have a newer image of the same tag. Nodes of kind have the images already, which are in no registry. */
const PULL_POLICY = process.env['E2E_PULL_POLICY'] ?? 'Always';

/** Values for the image under test. */
export const IMAGE_VALUES = imageValues(IMAGE);
/** Values for the image of the previous release. */
export const PREVIOUS_VALUES = imageValues(process.env['E2E_PREVIOUS_IMAGE'] ?? '');
/** Values for the sources of the image under test. */
export const SOURCES_VALUES = imageValues(process.env['E2E_SOURCES_IMAGE'] ?? '');

function imageValues(image: string): readonly string[] {
  const colon = image.lastIndexOf(':');
  const name = `image.repository=${image.slice(0, colon)},image.tag=${image.slice(colon + 1)}`;
  return ['--set', `${name},image.pullPolicy=${PULL_POLICY}`];
}

/** The security context of pods, as the namespace requires it. */
export const POD_SECURITY =
  '{runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: {type: RuntimeDefault}}';
export const CONTAINER_SECURITY = '{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}';

export function uniqueName(prefix: string): string {
  return `${prefix}-${Date.now().toString(36)}`;
}

/** Runs helm, and waits until the objects it created are ready. */
export function helm(namespace: string, verb: string, ...args: readonly string[]): Promise<string> {
  return run('helm', [verb, 'pergola', ...args, '-n', namespace, '--wait', '--timeout', '300s']);
}

export function install(namespace: string, chart: string, ...values: readonly string[]): Promise<string> {
  return helm(namespace, 'install', chart, ...IMAGE_VALUES, ...values);
}

export async function createNamespace(namespace: string): Promise<void> {
  await apply(`
apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
  labels: {pod-security.kubernetes.io/enforce: restricted}
---
apiVersion: v1
kind: Secret
metadata: {name: pergola-admin, namespace: ${namespace}}
stringData: {admin-secret: ${ADMIN_SECRET}}
---
apiVersion: v1
kind: Secret
metadata: {name: pergola-postgres, namespace: ${namespace}}
stringData: {password: ${POSTGRES_PASSWORD}}
---
apiVersion: v1
kind: Secret
metadata: {name: pergola-database, namespace: ${namespace}}
stringData: {url: "postgres://postgres:${POSTGRES_PASSWORD}@postgres.${namespace}.svc:5432/postgres"}
`);
}

/** Creates a Postgres for the tests that is not part of a release, so uninstalling does not delete it. */
export async function createPostgres(namespace: string): Promise<void> {
  await apply(`
apiVersion: v1
kind: Service
metadata: {name: postgres, namespace: ${namespace}}
spec:
  selector: {app: postgres}
  ports: [{port: 5432}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: postgres, namespace: ${namespace}}
spec:
  selector: {matchLabels: {app: postgres}}
  template:
    metadata: {labels: {app: postgres}}
    spec:
      automountServiceAccountToken: false
      securityContext: ${POD_SECURITY}
      containers:
        - name: postgres
          image: ${POSTGRES_IMAGE}
          imagePullPolicy: IfNotPresent
          env: [{name: POSTGRES_PASSWORD, value: ${POSTGRES_PASSWORD}}, {name: PGDATA, value: /data/postgres}]
          ports: [{containerPort: 5432}]
          readinessProbe: {tcpSocket: {port: 5432}, periodSeconds: 1}
          securityContext: ${CONTAINER_SECURITY}
          volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, emptyDir: {}}]
`);
  await waitFor(namespace, 'condition=Available', 'deployment/postgres');
}

/** Removes a story's release, namespaces and definitions, so that the next story installs its own definitions. It waits until the pods
 *  are deleted; the namespaces are deleted in the background. Definitions are kept if other namespaces have resources of them.
 *  E2E_KEEP=1 keeps everything for inspection. */
export async function removeAll(...namespaces: readonly string[]): Promise<void> {
  if (process.env['E2E_KEEP']) return;
  const [home] = namespaces;
  await run('helm', ['uninstall', 'pergola', '-n', home!, '--ignore-not-found']);
  // Skips the grace period, in which pods would finish their requests.
  await kubectl('-n', home!, 'delete', 'deployments,statefulsets,pods', '--all', '--now', '--timeout=300s');
  await kubectl('delete', 'namespace', ...namespaces, '--ignore-not-found', '--wait=false');
  const names = (await kubectl('get', 'crd', '-o', 'name'))
    .split('\n')
    .filter((x) => x.endsWith('.pergola.dev'));
  if (names.length === 0) return;
  const { items } = await get('pergola', '-A');
  if (items.some(({ metadata }: Printed) => !namespaces.includes(metadata.namespace))) return;
  await kubectl('delete', ...names);
}
