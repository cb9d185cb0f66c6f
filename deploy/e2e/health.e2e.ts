/** Tests conditions on a real cluster while Postgres, one of two databases, a table and the engine become unavailable and return, with
 *  the default intervals, as docs/guides/troubleshooting.md promises; and Engines whose endpoint is not an engine. The steps are one
 *  story and run in order.
 *  Not here: every case (operator/kubernetes/health.kube.test.ts, engine/end-to-end/source-watch.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, type Printed, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { ENGINE, MANIFEST, RESOURCE_NAMES, SEED } from './examples.ts';
import { CHART, createNamespace, createPostgres, install, removeAll, uniqueName } from './release.ts';
import { startServer } from './server.ts';

const namespace = uniqueName('pergola-health');
const door = new Door(namespace, 'service/pergola-engine');
/** The guide promises 15 seconds. The limit is twice that, because the machine may run the cluster as well. */
const MOST_SECONDS = 30;

/** The variable that the Source `archive` names. */
const ARCHIVE_URL = `postgres://postgres:e2e@postgres.${namespace}.svc:5432/archive`;

/** A source with a database other than the engine's own, and a table of the source `default` that nothing refers to. */
const MORE = `
apiVersion: pergola.dev/v1alpha1
kind: Source
metadata: {name: archive}
spec: {engineRef: {name: main}, name: archive, type: Postgres, connection: {url: {env: ARCHIVE_URL}}}
---
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: letter}
spec: {engineRef: {name: main}, source: archive, table: letter}
---
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: shelf}
spec: {engineRef: {name: main}, source: default, table: shelf}
`;
/** The examples, with an Engine whose own namespace may name the variable. */
const GRANTED = MANIFEST.replace(
  ENGINE,
  `${ENGINE.trimEnd()}\n  grants: [{name: own-variables, variables: [ARCHIVE_URL]}]\n`,
);
const NAMES = [...RESOURCE_NAMES, 'source/archive', 'table/letter', 'table/shelf'];
const SHELF = 'create table shelf (id int primary key)';

/** Engines whose endpoints respond, but are not engines. */
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
---
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: other-json, namespace: ${namespace}}
spec: {endpoint: {service: {name: other-json, port: 4000}}}
`;
const OTHER_JSON = '{"status":"fine"}';

beforeAll(async () => {
  await createNamespace(namespace);
  await createPostgres(namespace);
});
afterAll(async () => {
  door.close();
  await removeAll(namespace);
});

test('the examples are Ready', async () => {
  const env = JSON.stringify([{ name: 'ARCHIVE_URL', value: ARCHIVE_URL }]);
  await install(namespace, CHART, '--set-json', `engine.extraEnv=${env}`);
  await door.admin('run_sql', { sql: `${SEED};${SHELF}` });
  await behindTheEngine('create database archive');
  await behindTheEngine('create table letter (id int primary key)', 'archive');
  await apply(GRANTED, '-n', namespace);
  await apply(MORE, '-n', namespace);
  await waitFor(namespace, 'condition=Ready', ...NAMES);
});

test('if Postgres stops responding, every resource of its source reports it, and nothing else changes', async () => {
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

test('once Postgres responds again, the resources are Ready', async () => {
  await signalPostgres('SIGCONT');
  await within('table/author is applied', async () => (await reasonOf('table/author')) === 'Applied');
  await waitFor(namespace, 'condition=Ready', ...NAMES);
});

test('if a database refuses the engine and a table is dropped, only the resources that need them are not Ready', async () => {
  await behindTheEngine(`
    alter database archive allow_connections false;
    select pg_terminate_backend(pid) from pg_stat_activity where datname = 'archive';
    drop table shelf`);
  const expected = {
    'Source archive': 'SourceUnavailable',
    'Table letter': 'SourceUnavailable',
    'Table shelf': 'DependencyNotReady',
  };
  await within('what needs them is not Ready, and nothing else', async () => {
    expect(await notReady()).toEqual(expected);
    return true;
  });
});

test('once both are back, every resource is Ready', async () => {
  await behindTheEngine(`alter database archive allow_connections true; ${SHELF}`);
  await within('nothing is missed', async () => {
    expect(await notReady()).toEqual({});
    return true;
  });
});

test('if the engine is down for half a minute, its Engine reports it at once, and no other resource is written', async () => {
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
  const unreachable = events.items.filter(({ reason }: Printed) => reason === 'EngineUnreachable');
  expect(unreachable.map(({ regarding }: Printed) => `${regarding.kind} ${regarding.name}`)).toEqual([
    'Engine main',
  ]);
});

test('an Engine whose endpoint is not an engine reports what to check', async () => {
  await startServer(
    namespace,
    'other-json',
    4000,
    `(await import('node:http')).createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end('${OTHER_JSON}');
    }).listen(4000);`,
  );
  await apply(STRANGERS);
  const messageOf = async (name: string) =>
    readyOf((await get('-n', namespace, `engine/${name}`)).status).message;
  await until('Postgres is no engine', async () => (await messageOf('postgres')).includes('does not answer'));
  await until('the API server is no engine', async () =>
    (await messageOf('api-server')).includes('spec.tls.caRef'),
  );
  await until('other JSON is no engine', async () =>
    (await messageOf('other-json')).includes('Check the endpoint'),
  );
  // What answered may be anything that the operator can reach.
  expect(await messageOf('other-json')).not.toContain(OTHER_JSON);
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

/** The reason of each resource that is not Ready. */
async function notReady(): Promise<Readonly<Record<string, string>>> {
  const { items } = await get('-n', namespace, 'pergola');
  const reasons = items.map(({ kind, metadata, status }: Printed) => [
    `${kind} ${metadata.name}`,
    readyOf(status).reason,
  ]);
  return Object.fromEntries(reasons.filter(([, reason]: readonly string[]) => reason !== 'Applied'));
}

async function tables(): Promise<readonly Printed[]> {
  return (await get('-n', namespace, 'tables.pergola.dev')).items;
}

/** Returns the version of each resource except the Engine at the API server; every write of a status changes it. */
async function storedVersions(): Promise<readonly string[]> {
  const { items } = await get('-n', namespace, 'pergola');
  return items
    .filter(({ kind }: Printed) => kind !== 'Engine')
    .map(({ kind, metadata }: Printed) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
}

/** Stops or continues Postgres. While it is stopped, connections stay open and the kernel accepts new ones, but nothing responds. */
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

/** Runs SQL in a database without notifying the engine. */
async function behindTheEngine(sql: string, database = 'postgres'): Promise<void> {
  const script = `
    import pg from 'pg';
    const client = new pg.Client('postgres://postgres:e2e@127.0.0.1:5432/${database}');
    await client.connect();
    await client.query(${JSON.stringify(sql)});
    await client.end();`;
  // Packages are found from the current folder.
  const node = ['sh', '-c', 'cd /postgres && node --input-type=module -e "$0"', script];
  await kubectl('-n', namespace, 'exec', 'deployment/postgres', '--', ...node);
}
