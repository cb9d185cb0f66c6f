/** The chart on a real cluster: installed under the restricted pod security standard, pods become Ready, and a Table
 *  custom resource turns into a served field that its permission governs. In: KUBECONFIG and two images (deploy/e2e/run).
 *  The steps are one story and run in order. Not here: the operator's faults (operator/kubernetes). */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

const namespace = `pergola-e2e-${Date.now().toString(36)}`;
const image = process.env['PERGOLA_IMAGE'] ?? '';
const postgresImage = process.env['E2E_POSTGRES_IMAGE'] ?? '';
const adminSecret = 'e2e-admin-secret';
const repository = image.slice(0, image.lastIndexOf(':'));
const tag = image.slice(image.lastIndexOf(':') + 1);
let forward: ChildProcess | undefined;
let engineUrl = '';

beforeAll(() => {
  apply(postgresManifest());
  kubectl('-n', namespace, 'rollout', 'status', 'deployment/postgres', '--timeout=180s');
});

afterAll(async () => {
  forward?.kill();
  if (process.env['E2E_KEEP']) return;
  run('helm', 'uninstall', 'pergola', '-n', namespace, '--wait');
  kubectl('delete', 'namespace', namespace, '--wait=false');
});

test('helm install ends with every pod Ready under pod security "restricted"', () => {
  run(
    'helm',
    'install',
    'pergola',
    'charts/pergola',
    '-n',
    namespace,
    '--wait',
    '--timeout',
    '200s',
    '--set',
    `image.repository=${repository}`,
    '--set',
    `image.tag=${tag}`,
    '--set',
    'image.pullPolicy=Always',
    '--set',
    'engine.replicas=2',
  );
  const pods = JSON.parse(kubectl('-n', namespace, 'get', 'pods', '-o', 'json')) as {
    items: { metadata: { name: string }; status: { conditions: { type: string; status: string }[] } }[];
  };
  const ready = pods.items.map((pod) => pod.status.conditions.find((c) => c.type === 'Ready')?.status);
  expect(ready).toEqual(['True', 'True', 'True', 'True']);
});

test('a Table custom resource becomes Ready and is served', async () => {
  engineUrl = await forwardTo('service/pergola-engine', 8080);
  await admin('run_sql', {
    sql: `create table article (id int primary key, title text not null, author_id int not null, draft boolean not null);
          insert into article values (1, 'first', 1, false), (2, 'second', 2, false), (3, 'hidden', 1, true)`,
  });
  apply(ourResources());
  kubectl(
    '-n',
    namespace,
    'wait',
    '--for=condition=Ready',
    'engine/main',
    'table/article',
    'tablepermission/article-reader',
    '--timeout=90s',
  );
  const answer = await graphql('{ article(order_by: {id: asc}) { id title } }', 'reader', {
    'x-engine-user-id': '1',
  });
  expect(answer).toEqual({ data: { article: [{ id: 1, title: 'first' }] } });
});

test('what the permission leaves out is not there for the role', async () => {
  const answer = await graphql('{ article { draft } }', 'reader', { 'x-engine-user-id': '1' });
  expect(answer.errors?.[0]?.message).toBe("field 'draft' not found in type: 'article'");
  const stranger = await graphql('{ article { id } }', 'stranger');
  expect(stranger.errors?.[0]?.message).toBe("field 'article' not found in type: 'query_root'");
});

test('a changed custom resource changes the answer', async () => {
  apply(ourResources({ columns: '[id]' }));
  await until(async () => {
    const answer = await graphql('{ article { title } }', 'reader', { 'x-engine-user-id': '1' });
    return answer.errors?.[0]?.message === "field 'title' not found in type: 'article'";
  });
});

test('a broken custom resource says why, and holds nothing else back', async () => {
  apply(brokenTable());
  kubectl('-n', namespace, 'wait', '--for=condition=Ready=False', 'table/missing', '--timeout=60s');
  const message = kubectl(
    '-n',
    namespace,
    'get',
    'table',
    'missing',
    '-o',
    'jsonpath={.status.conditions[?(@.type=="Ready")].message}',
  );
  expect(message).toContain('missing');
  const answer = await graphql('{ article { id } }', 'reader', { 'x-engine-user-id': '1' });
  expect(answer).toEqual({ data: { article: [{ id: 1 }] } });
});

test('a deleted custom resource takes its field away', async () => {
  kubectl('-n', namespace, 'delete', 'table/article', 'tablepermission/article-reader', '--wait=true');
  await until(async () => {
    const answer = await graphql('{ article { id } }', 'reader', { 'x-engine-user-id': '1' });
    return answer.errors?.[0]?.message === "field 'article' not found in type: 'query_root'";
  });
});

test('helm test passes, and an upgrade to the same chart keeps serving', async () => {
  run('helm', 'test', 'pergola', '-n', namespace, '--timeout', '90s');
  run(
    'helm',
    'upgrade',
    'pergola',
    'charts/pergola',
    '-n',
    namespace,
    '--reuse-values',
    '--wait',
    '--timeout',
    '200s',
  );
  forward?.kill();
  engineUrl = await forwardTo('service/pergola-engine', 8080);
  const response = await fetch(`${engineUrl}/healthz`);
  expect(response.status).toBe(200);
});

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'] });
}

function kubectl(...args: string[]): string {
  return run('kubectl', ...args);
}

function apply(manifest: string): void {
  execFileSync('kubectl', ['apply', '-f', '-'], {
    input: manifest,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function forwardTo(target: string, port: number): Promise<string> {
  forward = spawn('kubectl', ['-n', namespace, 'port-forward', target, `:${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    forward?.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    forward?.once('exit', () => reject(new Error('kubectl port-forward ended')));
  });
  return `http://${/127\.0\.0\.1:\d+/.exec(line)?.[0]}`;
}

type Answer = { data?: unknown; errors?: { message: string }[] };

async function graphql(query: string, role: string, variables: Record<string, string> = {}): Promise<Answer> {
  const headers = { 'x-engine-admin-secret': adminSecret, 'x-engine-role': role, ...variables };
  return (await post('/v1/graphql', { query }, headers)) as Answer;
}

async function admin(type: string, args: unknown): Promise<unknown> {
  return post('/v1/query', { type, args }, { 'x-engine-admin-secret': adminSecret });
}

async function post(path: string, body: unknown, headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(engineUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return response.json();
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 120; i++) {
    if (await holds()) return;
    await sleep(250);
  }
  expect.fail('it did not come true within 30 s');
}

function postgresManifest(): string {
  return `
apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
  labels: {pod-security.kubernetes.io/enforce: restricted}
---
apiVersion: v1
kind: Secret
metadata: {name: pergola-database, namespace: ${namespace}}
stringData: {url: "postgres://postgres:e2e@postgres.${namespace}.svc:5432/postgres"}
---
apiVersion: v1
kind: Secret
metadata: {name: pergola-admin, namespace: ${namespace}}
stringData: {admin-secret: ${adminSecret}}
---
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
      securityContext: {runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: postgres
          image: ${postgresImage}
          imagePullPolicy: IfNotPresent
          env: [{name: POSTGRES_PASSWORD, value: e2e}]
          ports: [{containerPort: 5432}]
          readinessProbe: {tcpSocket: {port: 5432}, periodSeconds: 1}
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
          volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, emptyDir: {}}]
`;
}

function ourResources(change: { columns?: string } = {}): string {
  return `
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main, namespace: ${namespace}}
spec:
  endpoint: {service: {name: pergola-engine, port: 8080}}
  adminSecretRef: {name: pergola-admin, key: admin-secret}
---
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: article, namespace: ${namespace}}
spec:
  engineRef: {name: main}
  source: default
  table: {schema: public, name: article}
---
apiVersion: pergola.dev/v1alpha1
kind: TablePermission
metadata: {name: article-reader, namespace: ${namespace}}
spec:
  engineRef: {name: main}
  source: default
  table: {schema: public, name: article}
  role: reader
  select:
    columns: ${change.columns ?? '[id, title]'}
    filter: {author_id: {_eq: X-Engine-User-Id}, draft: {_eq: false}}
`;
}

function brokenTable(): string {
  return `
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: missing, namespace: ${namespace}}
spec:
  engineRef: {name: main}
  source: default
  table: {schema: public, name: missing}
`;
}
