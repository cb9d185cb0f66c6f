/** Tests chaos: the operator is killed at each step of its work, two operators run at once, engine pods are deleted, and connections to
 *  the API server are cut, while resources change and a person changes metadata. A minute after the last fault the engine has what the
 *  resources declare, and the person's objects are unchanged. The steps are one story and run in order.
 *  E2E_API_SERVER_RESTART is a command that restarts the API server, if the owner of the cluster provides one.
 *  Not here: the faults themselves (testing/chaos/preload.mjs), the same without a cluster (operator/kubernetes/chaos.kube.test.ts). */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PERSON_SCHEMA, Person, THEIRS } from '../../testing/chaos/person.ts';
import type { ChaosTold } from '../../testing/chaos/supervised.ts';
import { apply, get, kubectl, type Printed, run, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { MANIFEST, RESOURCE_NAMES, SEED } from './examples.ts';
import {
  CHART,
  createNamespace,
  createPostgres,
  install,
  removeAll,
  SOURCES_VALUES,
  uniqueName,
} from './release.ts';

/** The port that the kubelet probes. The supervisor serves it, so the kubelet does not restart a pod whose operator was killed. */
const CONTROL_PORT = 8081;
const PRELOAD = readFileSync('testing/chaos/preload.mjs', 'utf8');
const RESTART = process.env['E2E_API_SERVER_RESTART'];
const MOST_SECONDS = 60;
const REST_MS = 120_000;
const VALUES = {
  engine: { replicas: 2 },
  operator: {
    replicas: 2,
    // A pod runs two processes: a supervisor, and the operator that it starts.
    resources: { limits: { memory: '768Mi' } },
    extraEnv: [
      { name: 'NODE_OPTIONS', value: '--import /chaos/preload.mjs' },
      { name: 'CHAOS_PORT', value: String(CONTROL_PORT) },
      { name: 'PERGOLA_HEALTH_PORT', value: '8082' },
    ],
    extraVolumes: [{ name: 'chaos', configMap: { name: 'chaos' } }],
    extraVolumeMounts: [{ name: 'chaos', mountPath: '/chaos' }],
  },
};

/** A resource that no engine accepts. */
const NOWHERE = `
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: nowhere}
spec: {engineRef: {name: main}, source: default, table: nowhere}
`;

const namespace = uniqueName('pergola-chaos');
const door = new Door(namespace, 'service/pergola-engine');
const person = new Person(async (type, args) => {
  const body = await door.metadata(type, args);
  const isRefused = typeof body === 'object' && body !== null && 'code' in body;
  return { status: isRefused ? 400 : 200, body };
});
/** The latest custom name in the resource of the table `author`. */
let word = '';
/** The objects of the resources, as the engine had them before the first fault. */
let quiet: Owned;

beforeAll(async () => {
  await createNamespace(namespace);
  await createPostgres(namespace);
  await apply(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'chaos', namespace },
      data: { 'preload.mjs': PRELOAD },
    }),
  );
});

afterAll(async () => {
  await person.rest().catch(() => {});
  door.close();
  await removeAll(namespace);
});

test('two operators and two engines serve the examples, and a person has objects of their own', async () => {
  await install(
    namespace,
    CHART,
    // The faults replace modules, which a bundle does not have.
    ...SOURCES_VALUES,
    '--set-json',
    `engine=${JSON.stringify(VALUES.engine)}`,
    '--set-json',
    `operator=${JSON.stringify(VALUES.operator)}`,
  );
  await door.admin('run_sql', { sql: SEED + PERSON_SCHEMA });
  await person.arrive();
  await apply(MANIFEST, '-n', namespace);
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
  await say('quiet');
  await until('it is served', async () => (await owned())['author']?.configuration?.custom_name === word);
  quiet = await owned();
  expect(Object.keys(quiet)).toContain('front_desk');
  person.hammer();
});

test('an operator that is stopped during a write, and continues when another leads, changes nothing', async () => {
  const first = await leader();
  await chaos(first, '/arm/stop-send');
  await say('forgotten');
  await until('another leads than who was stopped', async () => (await leader()) !== first);
  const { conflicts } = await chaos(first, '/');
  await say('remembered');
  await waitFor(namespace, `jsonpath={.status.observedGeneration}=${await generation()}`, 'table/author');
  await chaos(first, '/signal/SIGCONT');
  await until(
    'the write of who was stopped is refused',
    async () => (await chaos(first, '/')).conflicts > conflicts,
  );
  await converged();
});

test('an operator that is killed at any step of its work recovers', async () => {
  const { steps } = await chaos(await leader(), '/');
  for (const step of steps) await killedAt(step);
  await converged();
});

async function killedAt(step: string): Promise<void> {
  const leading = await leader();
  // Only an operator that does not lead yet can be killed when it starts to lead.
  const victim = step === 'lead' ? (await operators()).find((pod) => pod !== leading)! : leading;
  const { kills } = await chaos(victim, `/arm/${step}`);
  // The leader stays down while the other is killed repeatedly, so that it does not get the lease back in between.
  if (step === 'lead') await chaos(leading, `/rest/${REST_MS}`);
  // The operator asks what fits only after something did not.
  if (step === 'admit') await apply(NOWHERE, '-n', namespace);
  await say(step);
  await until(`killed at ${step}`, async () => (await chaos(victim, '/')).kills > kills);
  if (step === 'admit') await kubectl('-n', namespace, 'delete', 'table', 'nowhere');
}

test('everything converges after engine pods are deleted', async () => {
  await kubectl('-n', namespace, 'delete', 'pod', '-l', 'app.kubernetes.io/component=engine', '--wait=false');
  await say('elsewhere');
  await waitFor(namespace, 'condition=Available', 'deployment/pergola-engine');
  await converged();
});

test('everything converges after all connections to the API server are cut and new ones fail for a while', async () => {
  for (const pod of await operators()) await chaos(pod, '/away/12000');
  await say('unheard');
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  await converged();
});

test('the operator made no forbidden request', async () => {
  const logs = await kubectl(
    '-n',
    namespace,
    'logs',
    '-l',
    'app.kubernetes.io/component=operator',
    '--tail=-1',
  );
  expect(logs.split('\n').filter((line) => line.includes('forbidden'))).toEqual([]);
});

test('everything converges after all faults at once', async () => {
  const leading = await leader();
  await chaos(leading, '/arm/sent');
  await kubectl('-n', namespace, 'delete', 'pod', '-l', 'app.kubernetes.io/component=engine', '--wait=false');
  await kubectl('-n', namespace, 'delete', 'tablepermission,querycollection', '--all', '--wait=false');
  for (const pod of await operators()) await chaos(pod, '/cut');
  await kubectl('-n', namespace, 'delete', 'pod', leading, '--grace-period=0', '--force');
  await apply(MANIFEST, '-n', namespace);
  await say('at last');
  await waitFor(namespace, 'condition=Available', 'deployment/pergola-engine');
  await converged();
});

test.skipIf(RESTART === undefined)(
  `everything converges after a restart of the API server${RESTART === undefined ? ' (skipped: E2E_API_SERVER_RESTART is not set)' : ''}`,
  async () => {
    await run('sh', ['-c', RESTART!]);
    // The API server may report Ready before it knows our kinds.
    await until('the API server takes a change', async () => (await say('restarted')).includes('author'));
    await converged();
  },
);

test('objects of the person are unchanged, byte by byte', async () => {
  expect(person.done).toBeGreaterThan(20);
  await person.rest();
  const { now, before } = await person.compare();
  expect(now).toBe(before);
});

/** Waits until an operator holds the lease, and returns its name. */
async function leader(): Promise<string> {
  let holder = '';
  await until('an operator leads', async () => {
    holder = (await get('lease', 'pergola-operator', '-n', namespace)).spec.holderIdentity;
    return holder !== '';
  });
  return holder;
}

async function operators(): Promise<readonly string[]> {
  const { items } = await get('pod', '-n', namespace, '-l', 'app.kubernetes.io/component=operator');
  return items
    .filter(({ metadata }: Printed) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }: Printed) => metadata.name);
}

async function chaos(pod: string, path: string): Promise<ChaosTold> {
  const proxy = `/api/v1/namespaces/${namespace}/pods/${pod}:${CONTROL_PORT}/proxy`;
  let state: ChaosTold | undefined;
  await until(`${pod} takes ${path}`, async () => {
    state = JSON.parse(await kubectl('get', '--raw', proxy + path));
    return true;
  });
  return state!;
}

type Owned = Readonly<Record<string, { readonly configuration?: { readonly custom_name?: string } }>>;

/** Returns the tables and collections of the examples by name. Permissions are sorted: recreated ones are in another order. */
async function owned(): Promise<Owned> {
  const { sources, query_collections = [] } = (await door.metadata('export_metadata')) as Printed;
  const tables = sources.flatMap((source: Printed) => source.tables);
  const named = [
    ...tables.map((table: Printed) => [table.table.name, sorted(table)]),
    ...query_collections.map((collection: Printed) => [collection.name, collection]),
  ];
  return Object.fromEntries(named.filter(([name]) => !THEIRS.includes(name)));
}

function sorted(table: Printed): Printed {
  const byRole = (a: Printed, b: Printed) => (a.role < b.role ? -1 : 1);
  return Object.fromEntries(
    Object.entries(table).map(([part, value]) => [
      part,
      part.endsWith('_permissions') ? (value as Printed[]).toSorted(byRole) : value,
    ]),
  );
}

/** Changes a resource; the change has to survive every fault. */
async function say(next: string): Promise<string> {
  word = `author_${next.replace(' ', '_')}`;
  const patch = JSON.stringify({ spec: { configuration: { customName: word } } });
  return kubectl('-n', namespace, 'patch', 'table', 'author', '--type=merge', '-p', patch);
}

async function generation(): Promise<number> {
  return (await get('table', 'author', '-n', namespace)).metadata.generation;
}

/** Waits until every resource is Ready at its generation and in the engine. Limits the time since the last fault. */
async function converged(): Promise<void> {
  const began = Date.now();
  await until('every resource is Ready', async () => {
    const { items } = await get('pergola', '-n', namespace);
    const late = items.filter(({ metadata, status }: Printed) => {
      const ready = status.conditions?.find(({ type }: Printed) => type === 'Ready');
      return ready?.status !== 'True' || ready.observedGeneration !== metadata.generation;
    });
    const names = late.map(
      ({ kind, metadata, status }: Printed) => `${kind} ${metadata.name} ${JSON.stringify(status)}`,
    );
    if (late.length > 0) throw new Error(names.join('\n'));
    expect(await owned()).toEqual({
      ...quiet,
      author: { ...quiet['author'], configuration: { custom_name: word } },
    });
    return true;
  });
  const seconds = (Date.now() - began) / 1000;
  console.log(`converged ${seconds} s after the last fault`);
  expect(seconds, 'seconds after the last fault').toBeLessThan(MOST_SECONDS);
}
