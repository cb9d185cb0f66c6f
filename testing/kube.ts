/** Starts a Kubernetes API server for tests: kube-apiserver and etcd on random ports, in a folder of their own, ready in seconds.
 *  `describeKube` gives one to a test file. Where none can be started the tests are skipped, with the reason in their name and on
 *  stderr; with CI=true they fail. There are no controllers and no nodes: namespaces never finish terminating, no pod ever runs.
 *  Not here: where the programs come from (kube/binaries.ts). */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../bin/free-port.ts';
import { kindOf } from '../operator/kinds.ts';
import { kubeBinaries } from './kube/binaries.ts';

export type TestKube = {
  readonly url: string;
  /** The kubeconfig file of an administrator. */
  readonly kubeconfig: string;
  /** The token of an administrator (system:masters). */
  readonly token: string;
  /** The certificate authority of the API server, in PEM. */
  readonly ca: string;
  /** Runs kubectl as the administrator and returns its standard output; rejects with its error output. */
  readonly kubectl: (args: readonly string[], input?: string) => Promise<string>;
  /** Sends one request as the administrator, JSON in and out; it does not throw when the API server rejects it. */
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
  ) => Promise<{ readonly status: number; readonly body: KubeBody }>;
  /** Applies objects on the server side as `tester`, with strict validation; throws the message of the API server. */
  readonly apply: (...objects: readonly KubeObject[]) => Promise<void>;
  /** Writes a kubeconfig file for another token, of a ServiceAccount for example. */
  readonly kubeconfigFor: (token: string) => Promise<string>;
  /** Kills the API server and starts it again at the same address; resolves when it is ready. */
  readonly restart: () => Promise<void>;
  /** Returns the requests of ServiceAccounts, in the order of the answers. */
  readonly audit: () => Promise<readonly AuditEntry[]>;
  readonly etcdPid: number;
  readonly stop: () => Promise<void>;
};

export type AuditEntry = {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
  /** The time of the answer. */
  readonly stageTimestamp: string;
};

export type KubeObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string } & Readonly<
    Record<string, unknown>
  >;
} & Readonly<Record<string, unknown>>;

// biome-ignore lint/suspicious/noExplicitAny: the type depends on the path; the test knows it
export type KubeBody = any;

const AUDIT_LOG = 'audit.log';
/** Records the requests of ServiceAccounts only, because tests act as administrators. A watch is recorded when it begins. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }],
};

const READY_WITHIN_MS = 90_000;
/** The number of attempts to start: another process may take a port between the check that it is free and its use. */
const MOST_TRIES = 3;

/** Declares a `describe` whose tests have a cluster of their own. */
export async function describeKube(name: string, body: (kube: () => TestKube) => void): Promise<void> {
  const binaries = await kubeBinaries();
  if ('missing' in binaries) {
    skipped(name, binaries.missing);
    return;
  }
  describe(name, () => {
    let kube: TestKube | undefined;
    beforeAll(async () => {
      kube = await startKube(binaries.folder);
    }, READY_WITHIN_MS);
    afterAll(() => kube?.stop());
    body(() => kube!);
  });
}

function skipped(name: string, reason: string): void {
  if (process.env['CI'] === 'true') {
    test(`${name}: needs a Kubernetes API server`, () => expect.fail(reason));
    return;
  }
  process.stderr.write(`\nSKIPPED: ${name}: no Kubernetes API server: ${reason}\n\n`);
  test.skip(`${name} (${reason})`);
}

export async function startKube(binaries?: string): Promise<TestKube> {
  const folder = binaries ?? foundFolder(await kubeBinaries());
  for (let tries = 1; ; tries++) {
    try {
      return await startOnce(folder);
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
    }
  }
}

function foundFolder(found: Awaited<ReturnType<typeof kubeBinaries>>): string {
  if ('missing' in found) throw new Error(found.missing);
  return found.folder;
}

async function startOnce(binaries: string): Promise<TestKube> {
  const folder = await mkdtemp(join(tmpdir(), 'pergola-kube-'));
  const token = randomBytes(16).toString('hex');
  const children: ChildProcess[] = [];
  const killAll = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', killAll);
  const stop = async () => {
    process.off('exit', killAll);
    await Promise.all(children.map(killed));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [clientPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
    children.push(startEtcd(binaries, folder, clientPort!, peerPort!));
    const startApi = await apiServer(binaries, folder, { etcd: clientPort!, port: port!, token });
    children.push(startApi());
    const url = `https://127.0.0.1:${port}`;
    await becomeReady(url, children, folder);
    const restart = async () => {
      await killed(children.pop()!);
      children.push(startApi());
      await becomeReady(url, children, folder);
    };
    return await described({ binaries, folder, url, token, restart, etcdPid: children[0]!.pid!, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

function startEtcd(binaries: string, folder: string, clientPort: number, peerPort: number): ChildProcess {
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return started(join(binaries, 'etcd'), join(folder, 'etcd.log'), [
    ...['--name', 'test', '--data-dir', join(folder, 'etcd'), '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `test=${peer}`],
  ]);
}

/** Returns a function that starts the API server and can be called again. */
async function apiServer(
  binaries: string,
  folder: string,
  { etcd, port, token }: { readonly etcd: number; readonly port: number; readonly token: string },
): Promise<() => ChildProcess> {
  const tokens = join(folder, 'tokens.csv');
  await writeFile(tokens, `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const serviceAccountKey = join(folder, 'service-account.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  const policy = join(folder, 'audit-policy.json');
  await writeFile(policy, JSON.stringify(AUDIT_POLICY));
  const args = [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    // The API server creates its own certificate here, followed by the authority that signed it.
    `--cert-dir=${join(folder, 'certificates')}`,
    `--token-auth-file=${tokens}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${serviceAccountKey}`,
    `--service-account-signing-key-file=${serviceAccountKey}`,
    // Pods would wait for ServiceAccounts that no controller creates.
    '--disable-admission-plugins=ServiceAccount',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--endpoint-reconciler-type=none',
    '--profiling=false',
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${join(folder, AUDIT_LOG)}`,
    '--audit-log-mode=blocking',
  ];
  return () => started(join(binaries, 'kube-apiserver'), join(folder, 'kube-apiserver.log'), args);
}

/** A sixth of the API server's processor time is the collection of memory, with Go's default of 100. */
const RARE_GC = { GOGC: '400' };

function started(program: string, log: string, args: readonly string[]): ChildProcess {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...RARE_GC },
  });
  const output = createWriteStream(log);
  child.stdout?.pipe(output, { end: false });
  child.stderr?.pipe(output, { end: false });
  child.once('close', () => output.end());
  // becomeReady treats a program that cannot be started as one that has ended.
  child.on('error', () => {});
  return child;
}

async function becomeReady(url: string, children: readonly ChildProcess[], folder: string): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await isReady(url))) {
    const ended = children.find((child) => child.exitCode !== null || child.pid === undefined);
    if (ended || Date.now() > deadline) throw new Error(`no API server: ${await lastWords(folder)}`);
    await sleep(50);
  }
}

/** Returns true when the API server is ready. No credentials are needed, and the certificate is not trusted yet. */
function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(`${url}/readyz`, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once('error', () => resolve(false));
    asked.end();
  });
}

async function lastWords(folder: string): Promise<string> {
  const logs = await Promise.all(
    ['etcd', 'kube-apiserver'].map((name) => readFile(join(folder, `${name}.log`), 'utf8').catch(() => '')),
  );
  return logs.map((log) => log.slice(-1500)).join('\n');
}

type Running = {
  readonly binaries: string;
  readonly folder: string;
  readonly url: string;
  readonly token: string;
  readonly restart: () => Promise<void>;
  readonly etcdPid: number;
  readonly stop: () => Promise<void>;
};

async function described({
  binaries,
  folder,
  url,
  token,
  restart,
  etcdPid,
  stop,
}: Running): Promise<TestKube> {
  const authority = join(folder, 'certificates', 'apiserver.crt');
  const ca = readFileSync(authority, 'utf8');
  const kubeconfigFor = async (other: string) => {
    const file = join(folder, `kubeconfig-${randomBytes(4).toString('hex')}`);
    await writeFile(file, kubeconfigText(url, authority, other), { mode: 0o600 });
    return file;
  };
  const kubeconfig = await kubeconfigFor(token);
  const kubectl: TestKube['kubectl'] = async (args, input = '') => {
    // kubectl would otherwise cache discovery in the user's home, beyond the life of the cluster.
    const common = ['--kubeconfig', kubeconfig, '--cache-dir', join(folder, 'kubectl-cache')];
    for (let left = MOST_WAITS; ; left--) {
      try {
        return await output(join(binaries, 'kubectl'), [...common, ...args], input);
      } catch (error) {
        // `kubectl wait` fails for a definition that has no conditions yet.
        if (left === 0 || !(error as Error).message.includes('.status.conditions accessor error'))
          throw error;
        await sleep(100);
      }
    }
  };
  const agent = new Agent({ keepAlive: true, ca });
  const ask: TestKube['request'] = (method, path, body, contentType = 'application/json') =>
    asked(url + path, { agent, method, token, contentType }, body);
  const apply: TestKube['apply'] = async (...objects) => {
    for (const object of objects) {
      const path = `${pathOf(object)}?fieldManager=tester&force=true&fieldValidation=Strict`;
      const { status, body } = await ask('PATCH', path, object, 'application/apply-patch+yaml');
      if (status >= 300) throw new Error(body.message);
    }
  };
  const stopAll = async () => {
    agent.destroy();
    await stop();
  };
  const audit = async () => {
    const text = await readFile(join(folder, AUDIT_LOG), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as AuditEntry);
  };
  const asking = { kubectl, request: ask, apply, kubeconfigFor, audit };
  return { url, kubeconfig, token, ca, ...asking, restart, etcdPid, stop: stopAll };
}

/** How often `kubectl wait` is repeated for a definition without conditions: ten seconds. */
const MOST_WAITS = 100;

function output(program: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 256 * 1024 * 1024 };
    const child = execFile(program, args, options, (error, out, complaint) =>
      error ? reject(new Error(complaint.trim() || error.message)) : resolve(out),
    );
    child.stdin?.end(input);
  });
}

/** Returns the path of an object in the API. */
export function pathOf({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const where = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  const plural = kindOf(kind)?.plural ?? `${kind.toLowerCase()}s`;
  return `${group}${where}/${plural}/${metadata.name}`;
}

function asked(
  url: string,
  {
    agent,
    method,
    token,
    contentType,
  }: Readonly<Record<'method' | 'token' | 'contentType', string>> & { agent: Agent },
  body: unknown,
): Promise<{ status: number; body: KubeBody }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        answer += chunk;
      });
      response.once('end', () => {
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        if (isJson) resolve({ status: response.statusCode ?? 0, body: JSON.parse(answer) });
        else reject(new Error(`${method} ${url}: ${response.statusCode} ${answer}`));
      });
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function kubeconfigText(url: string, authority: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority': authority } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
