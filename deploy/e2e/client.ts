/** A client inside the cluster that sends requests to the service without a pause (client-loop.mjs), and its results.
 *  Not here: single requests from outside (door.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apply, kubectl, until, waitFor } from './cluster.ts';
import { READER_QUERY } from './every-kind.ts';
import { ADMIN_SECRET, CONTAINER_SECURITY, IMAGE, POD_SECURITY } from './release.ts';

const SCRIPT = readFileSync(join(import.meta.dirname, 'client-loop.mjs'), 'utf8');

export type Tally = { readonly sent: number; readonly failed: number; readonly failures: readonly string[] };

export async function startClient(namespace: string): Promise<void> {
  const env = {
    URL: 'http://pergola-engine:8080/v1/graphql',
    ADMIN_SECRET,
    QUERY: READER_QUERY,
    VARIABLES: JSON.stringify({ 'x-engine-role': 'reader' }),
  };
  await apply(`
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: ${namespace}}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  securityContext: ${POD_SECURITY}
  containers:
    - name: client
      image: ${IMAGE}
      imagePullPolicy: IfNotPresent
      command: [node, --input-type=module, --eval, ${JSON.stringify(SCRIPT)}]
      env: ${JSON.stringify(Object.entries(env).map(([name, value]) => ({ name, value })))}
      securityContext: ${CONTAINER_SECURITY}
`);
  await waitFor(namespace, 'condition=Ready', 'pod/client');
  await until('the client sends requests', async () => (await tally(namespace)).sent > 10);
}

/** Returns the client's results so far. */
export async function tally(namespace: string): Promise<Tally> {
  const lines = (await kubectl('-n', namespace, 'logs', 'client')).trim().split('\n');
  const counts = lines.findLast((line) => line.startsWith('{')) ?? '{"sent": 0, "failed": 0}';
  return { ...JSON.parse(counts), failures: lines.filter((line) => line.startsWith('failed')) };
}

/** Waits for at least this many more requests, and returns the results. */
export async function sentMore(namespace: string, count = 50): Promise<Tally> {
  const { sent } = await tally(namespace);
  await until('the client sends more requests', async () => (await tally(namespace)).sent >= sent + count);
  return tally(namespace);
}

export async function stopClient(namespace: string): Promise<void> {
  await kubectl('-n', namespace, 'delete', 'pod', 'client', '--ignore-not-found');
}
