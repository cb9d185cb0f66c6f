/** Tests the image as any user on a root file system that cannot be written, without a volume: the engine serves and its health check says so,
 *  pg_dump is there, and nothing is larger than its budget. Not here: what the Dockerfile must say (deploy/image/image.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, type Printed, until, waitFor } from './cluster.ts';
import {
  CONTAINER_SECURITY,
  createNamespace,
  createPostgres,
  IMAGE,
  removeAll,
  uniqueName,
} from './release.ts';

/** The most that Pergola adds to the base image, on disk. */
const MOST_ADDED_MB = 70;
/** The most that a node downloads. */
const MOST_DOWNLOADED_MB = 150;

const namespace = uniqueName('pergola-image');

beforeAll(async () => {
  await createNamespace(namespace);
  await createPostgres(namespace);
  await apply(`
apiVersion: v1
kind: Pod
metadata: {name: image, namespace: ${namespace}}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, runAsUser: 1000660000, runAsGroup: 0, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: image
      image: ${IMAGE}
      imagePullPolicy: IfNotPresent
      env:
        - name: ENGINE_GRAPHQL_DATABASE_URL
          valueFrom: {secretKeyRef: {name: pergola-database, key: url}}
        - name: ENGINE_GRAPHQL_ADMIN_SECRET
          valueFrom: {secretKeyRef: {name: pergola-admin, key: admin-secret}}
      readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1}
      securityContext: {readOnlyRootFilesystem: true, ${CONTAINER_SECURITY.slice(1)}
`);
});

afterAll(() => removeAll(namespace));

function inImage(...command: readonly string[]): Promise<string> {
  return kubectl('-n', namespace, 'exec', 'image', '--', ...command);
}

test('it serves as any user, and the health check says so', async () => {
  await waitFor(namespace, 'condition=Ready', 'pod/image');
  await inImage('node', '/app/healthcheck.mjs');
  const elsewhere = ['env', 'ENGINE_GRAPHQL_SERVER_PORT=1', 'node', '/app/healthcheck.mjs'];
  await expect(inImage(...elsewhere)).rejects.toThrow('ECONNREFUSED');
  expect(await inImage('sh', '-c', 'id -u && ! touch /app/file 2>/dev/null')).toBe('1000660000\n');
});

test('it has pg_dump and every command', async () => {
  expect(await inImage('pg_dump', '--version')).toMatch(/^pg_dump \(PostgreSQL\) \d+/);
  expect(await inImage('node', '/app/bin/pergola.mjs', 'operator', '--help')).toContain('--lease-name');
});

test('it is within its budget', async () => {
  const added = await inImage('du', '-skc', '/app', '/usr/lib/pg_dump');
  const [, total] = /^(\d+)\s+total$/m.exec(added)!;
  expect(Number(total) / 1024).toBeLessThan(MOST_ADDED_MB);
  // A node reports its images about once a minute.
  let sizes: readonly number[] = [];
  await until('a node reports the image', async () => {
    const { items } = await get('nodes');
    const images: readonly Printed[] = items.flatMap(({ status }: Printed) => status.images ?? []);
    sizes = images
      .filter(({ names }) => names.some((name: string) => name.endsWith(IMAGE)))
      .map(({ sizeBytes }) => sizeBytes);
    return sizes.length > 0;
  });
  for (const bytes of sizes) expect(bytes / 1e6).toBeLessThan(MOST_DOWNLOADED_MB);
});
