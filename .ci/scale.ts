/** Measures the operator with thousands of resources, without a cluster: kube-apiserver and etcd, one Postgres, one engine and one
 *  operator, each in its own process. Prints the time of the first sync, the CPU of each process and the requests meanwhile and the time
 *  of status writes, the time of one change, the memory of the operator and the engine, their CPU and requests while nothing changes,
 *  its requests to the API server and lines of its log a minute, and all of this for an operator that starts while everything is Ready. With
 *  --chains it measures a mass deletion instead (testing/mass-deletion.ts).
 *  In: --tables, --edits, --idle seconds, --chains tables; KUBEBUILDER_ASSETS, or Go to build the API server with. Not here: limits, which the
 *  end-to-end test has (deploy/e2e/scale.e2e.ts). */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import pg from 'pg';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { freePort } from '../bin/free-port.ts';
import { GROUP_VERSION, KINDS, kindOf } from '../operator/kinds.ts';
import { connect } from '../operator/kubernetes/transport.ts';
import type { Pass, TimeSpan } from '../testing/edit-parts.ts';
import { type Engine, startEngine } from '../testing/engine-process.ts';
import { startKube, type TestKube } from '../testing/kube.ts';
import { measureMassDeletion } from '../testing/mass-deletion.ts';
import { ManyTables, percentile, schemaOf } from '../testing/scale.ts';
import { writeRecord } from './record.ts';

const { values: options } = parseArgs({
  options: {
    tables: { type: 'string', default: '5000' },
    edits: { type: 'string', default: '100' },
    idle: { type: 'string', default: '60' },
    /** Tables in chains of foreign keys, most of which are deleted. */
    chains: { type: 'string' },
    /** Measures only requests to the API server and lines of the log. */
    requests: { type: 'boolean', default: false },
    /** The file for the figures, such as docs/speed/scale.json. */
    out: { type: 'string' },
    /** Prints the log of the operator. */
    log: { type: 'boolean', default: false },
    /** The folder for CPU profiles. */
    profile: { type: 'string' },
    /** The flags of the chart, and the heap limit that Node derives from the memory limit of the container. */
    'node-options': { type: 'string', default: '--max-old-space-size=192 --max-semi-space-size=2' },
  },
});
const TABLES = Number(options.chains ?? options.tables);
const SECRET = 'scale';
const NAMESPACE = 'scale';
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:operator`;
/** The default of --prune-delay, and a reserve. */
const PRUNE_DELAY_MS = 35_000;
/** The fewest requests of one kind that are printed. */
const FREQUENT = 5;

const figures: Record<string, number> = { tables: TABLES };
const folder = mkdtempSync(join(tmpdir(), 'pergola-scale-'));
chmodSync(folder, 0o711);
const NODE_COMPILE_CACHE = join(folder, 'compiled');
const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
try {
  await run();
} finally {
  for (const stop of stops.reverse()) await stop();
}

async function run(): Promise<void> {
  const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
  stops.push(() => postgres.stop());
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  for (const statement of schemaOf(TABLES)) await client.query(statement);
  await client.query('create table other (id int primary key, title text, owner text)');
  await client.end();
  const engine = await startEngine({
    ...process.env,
    NODE_OPTIONS: profileOptions('engine'),
    ENGINE_GRAPHQL_DATABASE_URL: postgres.url,
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
    ENGINE_GRAPHQL_ENABLED_LOG_TYPES: 'startup',
  });
  stops.push(engine.stop);
  const kube = await startKube();
  stops.push(kube.stop);
  await prepare(kube, engine);
  const config = new KubeConfig();
  config.loadFromFile(kube.kubeconfig);
  const transport = await connect(config);
  stops.push(() => transport.close());
  const kubeconfig = await kube.kubeconfigFor(await operatorToken(kube));
  await warmCache();
  if (options.chains) {
    const operator = await startOperator(kubeconfig);
    stops.push(operator.stop);
    await measureMassDeletion({
      remove: (path) => kube.request('DELETE', path),
      transport,
      namespace: NAMESPACE,
      count: TABLES,
      operator,
      statusWrites: (kind, name) => statusWrites(kube, kind, name),
      cpuSeconds: async () =>
        new Map([
          ['the operator', operator.cpuSeconds()],
          ['the engine', cpuSeconds(engine.pid)],
          ['the API server', (await apiServerUse(kube)).cpuSeconds],
          ['etcd', cpuSeconds(kube.etcdPid)],
          ['this program', cpuSeconds(process.pid)],
        ]),
      engine,
      say,
    });
    say('operator: CPU s', operator.cpuSeconds());
    say('engine: CPU s', cpuSeconds(engine.pid));
    say('operator: memory, at most MB', operator.mostMemoryMb());
    say('engine: memory, at most MB', memoryMb(engine.pid, 'VmHWM'));
    if (options.out) writeRecord(options.out, figures);
    return;
  }
  const first = await startOperator(kubeconfig);
  await sleep(10_000);
  await measureQuiet(kube, first, 'one Engine');
  await first.stop();
  const tables = new ManyTables(transport, NAMESPACE);
  stops.push(() => tables.stop());

  let began = performance.now();
  await tables.create(TABLES);
  say('created by the API server s', since(began));
  const [before, engineBefore] = [await apiServerUse(kube), cpuSeconds(engine.pid)];
  began = performance.now();
  const operator = await startOperator(kubeconfig);
  stops.push(operator.stop);
  const synced = tables.ready(TABLES);
  const timer = setInterval(() => console.log(`  ${since(began)} s: ${tables.readyCount} Ready`), 5000);
  await synced;
  clearInterval(timer);
  say('first sync, from the start of the operator s', since(began));
  const after = await apiServerUse(kube);
  say('operator: memory MB', operator.memoryMb());
  say('operator: memory, at most MB', operator.mostMemoryMb());
  say('operator: CPU of the first sync s', operator.cpuSeconds());
  say('engine: CPU of the first sync s', cpuSeconds(engine.pid) - engineBefore);
  say('API server: CPU of the first sync s', after.cpuSeconds - before.cpuSeconds);
  say('etcd: CPU of the first sync s', after.etcdSeconds - before.etcdSeconds);
  sayRequests(before, after);
  const writes = after.statusWrites - before.statusWrites;
  say('API server: status writes', writes);
  say('API server: time of a status write ms', (after.statusMs - before.statusMs) / writes);
  say('engine: memory MB', memoryMb(engine.pid));
  // Passes are over all resources until the operator may delete objects.
  await sleep(Math.max(3000, PRUNE_DELAY_MS - (performance.now() - began)));
  if (options.requests) {
    await measureQuiet(kube, operator, `${TABLES} resources`);
    if (options.out) writeRecord(options.out, countsIn(figures));
    return;
  }
  await measureEdits(tables, operator, engine);
  await measureIdle(kube, operator, engine);
  await operator.stop();
  await measureRestart(kube, kubeconfig, engine);
  if (options.out) writeRecord(options.out, figures);
}

/** Measures an operator that starts while all resources are Ready: it reads them and the whole document of the engine, and writes
 *  nothing. */
async function measureRestart(kube: TestKube, kubeconfig: string, engine: Engine): Promise<void> {
  const [before, engineBefore] = [await apiServerUse(kube), cpuSeconds(engine.pid)];
  const began = performance.now();
  const operator = await startOperator(kubeconfig);
  stops.push(operator.stop);
  while ((await operator.metric('pergola_pass_total').catch(() => 0)) === 0) await sleep(100);
  say('restarted operator: time until the end of the first pass s', since(began));
  say('restarted operator: CPU s', operator.cpuSeconds());
  await sleep(5000);
  const after = await apiServerUse(kube);
  say('restarted operator: memory, at most MB', operator.mostMemoryMb());
  say('restart: CPU of the engine s', cpuSeconds(engine.pid) - engineBefore);
  say('restart: CPU of the API server s', after.cpuSeconds - before.cpuSeconds);
  sayRequests(before, after);
}

async function prepare(kube: TestKube, engine: Engine): Promise<void> {
  await kube.kubectl(['apply', '--server-side', '-f', 'crds/generated']);
  const definitions = KINDS.map(({ plural }) => `crd/${plural}.pergola.dev`);
  await kube.kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...definitions]);
  const data = { 'admin-secret': Buffer.from(SECRET).toString('base64') };
  await kube.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'engine-admin', namespace: NAMESPACE }, data },
    {
      apiVersion: GROUP_VERSION,
      kind: 'Engine',
      metadata: { name: 'main', namespace: NAMESPACE },
      spec: {
        endpoint: { url: engine.url },
        adminSecretRef: { name: 'engine-admin', key: 'admin-secret' },
        // The deletion of chains arrives in parts.
        ...(options.chains ? { policies: { pruneGuard: { maxObjects: 20, maxPercent: 1 } } } : {}),
      },
    },
  );
}

/** Returns the token of an account that may do everything. The audit log tells its requests from others. */
async function operatorToken(kube: TestKube): Promise<string> {
  const rbac = 'rbac.authorization.k8s.io';
  await kube.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'operator', namespace: NAMESPACE } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'operator' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'operator', namespace: NAMESPACE }],
    },
  );
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/operator/token`;
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 86_400 },
  };
  return (await kube.request('POST', path, request)).body.status.token;
}

type ApiServerUse = {
  readonly cpuSeconds: number;
  readonly statusWrites: number;
  /** The time of all status writes. */
  readonly statusMs: number;
  readonly etcdSeconds: number;
  readonly requests: ReadonlyMap<string, number>;
};

/** Reads the metrics of the API server. */
async function apiServerUse(kube: TestKube): Promise<ApiServerUse> {
  const page = await kube.kubectl(['get', '--raw', '/metrics']);
  const sum = (name: string, ...labels: readonly string[]) =>
    page
      .split('\n')
      .filter((line) => line.startsWith(name) && labels.every((label) => line.includes(label)))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
  const status = ['group="pergola.dev"', 'subresource="status"'];
  return {
    cpuSeconds: sum('process_cpu_seconds_total'),
    etcdSeconds: cpuSeconds(kube.etcdPid),
    requests: requestsIn(page),
    statusWrites: sum('apiserver_request_total{', ...status),
    statusMs: 1000 * sum('apiserver_request_duration_seconds_sum{', ...status),
  };
}

/** Returns the number of requests by verb, resource, subresource and code. */
function requestsIn(page: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of page.split('\n').filter((each) => each.startsWith('apiserver_request_total{'))) {
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? '';
    const key = ['verb', 'resource', 'subresource', 'code'].map(label).filter(Boolean).join(' ');
    counts.set(key, (counts.get(key) ?? 0) + Number(line.slice(line.lastIndexOf(' '))));
  }
  return counts;
}

/** Prints the requests between two times, without the few that every client sends. */
function sayRequests(before: ApiServerUse, after: ApiServerUse): void {
  for (const [key, count] of after.requests) {
    const made = count - (before.requests.get(key) ?? 0);
    if (made >= FREQUENT && !key.includes(' leases ')) say(`API server: ${key}`, made);
  }
}

type Operator = {
  readonly memoryMb: () => number;
  readonly mostMemoryMb: () => number;
  readonly cpuSeconds: () => number;
  readonly metric: (name: string) => Promise<number>;
  readonly healthUrl: string;
  /** The number of lines of its log so far. */
  readonly logLines: () => number;
  /** The passes in its log so far. */
  readonly passes: () => readonly Pass[];
  readonly stop: () => Promise<void>;
};

/** Fills the compile cache as the image does: the operator then keeps no memory of the compilation. */
async function warmCache(): Promise<void> {
  const env = { ...process.env, NODE_COMPILE_CACHE };
  await promisify(execFile)(process.execPath, ['bin/pergola.mjs', 'operator', '--help'], { env });
}

async function startOperator(kubeconfig: string): Promise<Operator> {
  const port = await freePort();
  const flags = [
    ...['--health-port', String(port), '--health-host', '127.0.0.1', '--lease-namespace', NAMESPACE],
    // The engine is on this machine.
    ...['--engine-hosts', '*,127.0.0.1'],
    // At the level debug each pass has a line.
    ...(options.chains ? ['--prune-delay-seconds', '0', '--log-level', 'debug'] : []),
  ];
  const given = options['node-options'].split(' ').filter(Boolean);
  const child: ChildProcess = spawn(process.execPath, [...given, 'bin/pergola.mjs', 'operator', ...flags], {
    env: {
      ...process.env,
      // As in the chart and its image.
      MALLOC_ARENA_MAX: '2',
      MALLOC_TRIM_THRESHOLD_: '131072',
      NODE_COMPILE_CACHE,
      KUBECONFIG: kubeconfig,
      NODE_OPTIONS: profileOptions('operator'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let lines = 0;
  const passes: Pass[] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines++;
    passes.push(...passIn(line));
    if (options.log) console.log(line);
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const pid = child.pid!;
  const healthUrl = `http://127.0.0.1:${port}`;
  return {
    healthUrl,
    logLines: () => lines,
    passes: () => passes,
    memoryMb: () => memoryMb(pid),
    mostMemoryMb: () => memoryMb(pid, 'VmHWM'),
    cpuSeconds: () => cpuSeconds(pid),
    metric: async (name) => {
      const page = await (await fetch(`${healthUrl}/metrics`)).text();
      const lines = page.split('\n').filter((line) => line.startsWith(name));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Returns the pass that a line of the operator's log is about. */
function passIn(line: string): readonly Pass[] {
  const { time, tookMs, resources } = JSON.parse(line) as Record<string, number | undefined>;
  if (time === undefined || tookMs === undefined) return [];
  return [{ from: time - tookMs, to: time, resources: resources ?? 0 }];
}

/** Returns the times of the operator's writes of a status, from the audit log. */
async function statusWrites(kube: TestKube, kind: string, name: string): Promise<readonly TimeSpan[]> {
  const { plural } = kindOf(kind)!;
  return (await kube.audit())
    .filter(({ objectRef }) => objectRef?.subresource === 'status')
    .filter(({ objectRef }) => objectRef?.resource === plural && objectRef.name === name)
    .map(({ requestReceivedTimestamp, stageTimestamp }) => ({
      from: Date.parse(requestReceivedTimestamp),
      to: Date.parse(stageTimestamp),
    }));
}

async function measureEdits(tables: ManyTables, operator: Operator, engine: Engine): Promise<void> {
  const before = [operator.cpuSeconds(), cpuSeconds(engine.pid)];
  const edits = Number(options.edits);
  const times: number[] = [];
  for (let i = 0; i < edits; i++) times.push(await tables.edit((i * 37) % TABLES));
  say('one change Ready, at most ms', Math.max(...times));
  say('one change Ready, median ms', percentile(times, 50));
  say('one change Ready, 99th percentile ms', percentile(times, 99));
  say('operator: CPU of one change ms', ((operator.cpuSeconds() - before[0]!) * 1000) / edits);
  say('engine: CPU of one change ms', ((cpuSeconds(engine.pid) - before[1]!) * 1000) / edits);
  say('operator: memory so far, at most MB', operator.mostMemoryMb());
}

/** Returns the figures that other work on the machine does not change. */
function countsIn(all: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(all).filter(([line]) => line === 'tables' || line.endsWith('a minute')),
  );
}

/** Measures what the operator sends to the API server and logs while nothing changes. */
async function measureQuiet(kube: TestKube, operator: Operator, what: string): Promise<void> {
  const seconds = Number(options.idle);
  const [before, lines] = [(await kube.audit()).length, operator.logLines()];
  await sleep(seconds * 1000);
  const sent = (await kube.audit()).slice(before).filter(({ user }) => user.username === ACCOUNT);
  const perMinute = (count: number) => (count * 60) / seconds;
  say(`${what}: requests to the API server a minute`, perMinute(sent.length));
  say(
    `${what}: of these for the lease a minute`,
    perMinute(sent.filter(({ objectRef }) => objectRef?.resource === 'leases').length),
  );
  say(`${what}: lines of the log a minute`, perMinute(operator.logLines() - lines));
}

async function measureIdle(kube: TestKube, operator: Operator, engine: Engine): Promise<void> {
  await sleep(5000);
  await measureQuiet(kube, operator, `${TABLES} resources`);
  const seconds = Number(options.idle);
  const before = [
    operator.cpuSeconds(),
    await operator.metric('pergola_engine_requests_total'),
    cpuSeconds(engine.pid),
  ];
  await sleep(seconds * 1000);
  const requests = (await operator.metric('pergola_engine_requests_total')) - before[1]!;
  say('operator: idle CPU, percent of a core', ((operator.cpuSeconds() - before[0]!) / seconds) * 100);
  say('operator: requests to the engine a minute', (requests * 60) / seconds);
  say('engine: idle CPU, percent of a core', ((cpuSeconds(engine.pid) - before[2]!) / seconds) * 100);
  say('operator: memory MB', operator.memoryMb());
  say('engine: memory MB', memoryMb(engine.pid));
}

function profileOptions(name: string): string {
  return options.profile === undefined ? '' : `--cpu-prof --cpu-prof-dir=${join(options.profile, name)}`;
}

function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Returns the CPU time of the process with all its threads, in seconds; Linux counts hundredths. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function since(began: number): number {
  return Math.round((performance.now() - began) / 10) / 100;
}

function say(what: string, value: number): void {
  figures[what] = value;
  console.log(`  ${what.padEnd(50)} ${value.toFixed(2)}`);
}
