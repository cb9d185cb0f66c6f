/** What conditions say on a real cluster while Postgres, a table and the engine go and come back, with the intervals users have, as
 *  docs/guides/troubleshooting.md promises it; and an Engine whose endpoint is no engine. The steps are one story and run in order.
 *  Not here: every case (operator/kubernetes/health.kube.test.ts, engine/source-watch.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, type Printed, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { MANIFEST, RESOURCE_NAMES, SEED } from './examples.ts';
import { CHART, createNamespace, createPostgres, install, removeAll, uniqueName } from './release.ts';

const namespace = uniqueName('pergola-health');
const door = new Door(namespace, 'service/pergola-engine');
/** 15 seconds are promised; a machine that runs a cluster beside its test is given some more. */
const MOST_SECONDS = 20;

/** Endpoints that answer, and not as an engine does. */
const STRANGERS = `
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: postgres, namespace: ${namespace}}
spec: {endpoint: {service: {name: postgres, port: 5432}}}
---
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: api-server, namespace: ${namespace}}
spec: {endpoint: {url: "https://kubernetes.default.svc"}}
`;

beforeAll(async () => {
  await createNamespace(namespace);
  await createPostgres(namespace);
});
afterAll(async () => {
  door.close();
  await removeAll(namespace);
});

test('the examples are Ready', async () => {
  await install(namespace, CHART);
  await door.admin('run_sql', { sql: SEED });
  await apply(MANIFEST, '-n', namespace);
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
});

test('Postgres stops answering: every resource of its source says so, and nothing else changes', async () => {
  const before = await versionOf('engine/main');
  await signalPostgres('SIGSTOP');
  await within('table/author says that its source is unavailable', async () => {
    return (await reasonOf('table/author')) === 'SourceUnavailable';
  });
  await within('so do all others of the source', async () => {
    const reasons = (await tables()).map(({ status }) => readyOf(status).reason);
    return reasons.every((reason) => reason === 'SourceUnavailable');
  });
  const { status } = await get('-n', namespace, 'engine/main');
  const consistent = status.conditions.find(({ type }: Printed) => type === 'MetadataConsistent');
  expect(consistent.status).toBe('False');
  expect(await versionOf('engine/main')).toBe(before);
});

test('and goes on: so do they', async () => {
  await signalPostgres('SIGCONT');
  await within('table/author is applied', async () => (await reasonOf('table/author')) === 'Applied');
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
});

test('a table somebody renames is missed by its Table, and found again', async () => {
  await behindTheEngine('alter table author rename to writer');
  await within(
    'table/author is not Ready',
    async () => (await reasonOf('table/author')) === 'DependencyNotReady',
  );
  await behindTheEngine('alter table writer rename to author');
  await within('table/author is applied', async () => (await reasonOf('table/author')) === 'Applied');
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
});

test('an engine that is away for half a minute: the Engine says so at once, no other resource is written', async () => {
  const before = await storedVersions();
  await kubectl('-n', namespace, 'scale', 'deployment/pergola-engine', '--replicas=0');
  await until(
    'the Engine is unreachable',
    async () => (await reasonOf('engine/main')) === 'EngineUnreachable',
  );
  await kubectl('-n', namespace, 'scale', 'deployment/pergola-engine', '--replicas=1');
  await waitFor(namespace, 'condition=Ready', 'engine/main');
  expect(await storedVersions()).toEqual(before);
  const events = await get('-n', namespace, 'events.events.k8s.io');
  const told = events.items.filter(({ reason }: Printed) => reason === 'EngineUnreachable');
  expect(told.map(({ regarding }: Printed) => `${regarding.kind} ${regarding.name}`)).toEqual([
    'Engine main',
  ]);
});

test('an endpoint that is no engine is a condition of its Engine, with what to look at', async () => {
  await apply(STRANGERS);
  const messageOf = async (name: string) =>
    readyOf((await get('-n', namespace, `engine/${name}`)).status).message;
  await until('Postgres is no engine', async () => (await messageOf('postgres')).includes('does not answer'));
  await until('the API server is no engine', async () =>
    (await messageOf('api-server')).includes('spec.tls.caRef'),
  );
});

async function within(what: string, holds: () => Promise<boolean>): Promise<void> {
  const began = Date.now();
  await until(what, holds);
  const seconds = (Date.now() - began) / 1000;
  process.stderr.write(`  ${what}: ${seconds.toFixed(1)} s\n`);
  expect(seconds).toBeLessThan(MOST_SECONDS);
}

function readyOf(status: Printed): { readonly reason: string; readonly message: string } {
  return status?.conditions?.find(({ type }: Printed) => type === 'Ready') ?? { reason: '', message: '' };
}

async function reasonOf(name: string): Promise<string> {
  return readyOf((await get('-n', namespace, name)).status).reason;
}

async function versionOf(engine: string): Promise<number> {
  return (await get('-n', namespace, engine)).status.resourceVersion;
}

async function tables(): Promise<readonly Printed[]> {
  return (await get('-n', namespace, 'tables.pergola.dev')).items;
}

/** The version of each resource but the Engine at the API server: another one after every write of its status. */
async function storedVersions(): Promise<readonly string[]> {
  const { items } = await get('-n', namespace, 'pergola');
  return items
    .filter(({ kind }: Printed) => kind !== 'Engine')
    .map(({ kind, metadata }: Printed) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
}

/** Connections stay and new ones are accepted by the kernel; nothing is answered. */
async function signalPostgres(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const script = `
    const { readdirSync, readFileSync } = require('node:fs');
    for (const pid of readdirSync('/proc').filter((name) => /^\\d+$/.test(name))) {
      let name = '';
      try { name = readFileSync('/proc/' + pid + '/comm', 'utf8').trim(); } catch {}
      if (name === 'postgres') process.kill(Number(pid), '${signal}');
    }`;
  await kubectl('-n', namespace, 'exec', 'deployment/postgres', '--', 'node', '-e', script);
}

/** SQL that the engine is not told of. */
async function behindTheEngine(sql: string): Promise<void> {
  const script = `
    import pg from 'pg';
    const client = new pg.Client('postgres://postgres:e2e@postgres:5432/postgres');
    await client.connect();
    await client.query(${JSON.stringify(sql)});
    await client.end();`;
  const node = ['node', '--input-type=module', '-e', script];
  await kubectl('-n', namespace, 'exec', 'deployment/pergola-engine', '--', ...node);
}
