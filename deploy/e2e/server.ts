/** Starts a small HTTP server in the cluster: a pod that runs a script in the image of the tests' Postgres, which has the library `graphql`, and a
 *  service of the same name.
 *  Not here: the scripts (every-kind.ts, health.e2e.ts). */
import { apply, waitFor } from './cluster.ts';
import { CONTAINER_SECURITY, POD_SECURITY, POSTGRES_IMAGE } from './release.ts';

/** Starts the server, and returns once the script listens on the port. */
export async function startServer(
  namespace: string,
  name: string,
  port: number,
  script: string,
): Promise<void> {
  await apply(`
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  selector: {app: ${name}}
  ports: [{port: ${port}}]
---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: ${namespace}, labels: {app: ${name}}}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  securityContext: ${POD_SECURITY}
  containers:
    - name: ${name}
      image: ${POSTGRES_IMAGE}
      imagePullPolicy: IfNotPresent
      workingDir: /postgres
      command: [node, --input-type=module, --eval, ${JSON.stringify(script)}]
      readinessProbe: {tcpSocket: {port: ${port}}, periodSeconds: 1}
      securityContext: ${CONTAINER_SECURITY}
`);
  await waitFor(namespace, 'condition=Ready', `pod/${name}`);
}
