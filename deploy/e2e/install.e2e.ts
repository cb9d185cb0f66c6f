/** Tests the chart on an empty cluster, under the restricted pod security standard: its pods become Ready, the commands of the guide and of the
 *  notes work as they are, every example becomes Ready and is served by each replica, the admin secret is replaced without a refused request,
 *  and the operator needs only the rights in the chart. It is uninstalled and installed again without a change, and removed.
 *  The steps are one story and run in order. Not here: upgrades (upgrade.e2e.ts), faults of the operator (operator/kubernetes). */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, type Printed, run, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { AMINA, LIBRARY, WITH_REPLICAS as MANIFEST, QUERY, RESOURCE_NAMES, SEED } from './examples.ts';
import { commandsOf, Reader } from './guide.ts';
import {
  ADMIN_SECRET,
  CHART,
  createNamespace,
  createPostgres,
  helm,
  IMAGE,
  IMAGE_VALUES,
  removeAll,
  uniqueName,
} from './release.ts';

const namespace = uniqueName('pergola-install');
const reader = new Reader(namespace);
const VALUES = [...IMAGE_VALUES, '--set', 'engine.replicas=2'];
const [INSTALL] = commandsOf('installing.md');
const [REMOVE] = commandsOf('installing.md', 'Removing');
const ACCOUNT = `system:serviceaccount:${namespace}:pergola-operator`;
let doors: readonly Door[] = [];
/** The names of the objects before the installation. */
let before: readonly string[];

beforeAll(async () => {
  await createNamespace(namespace);
  await createPostgres(namespace);
  before = await objects();
});

afterAll(async () => {
  for (const door of doors) door.close();
  reader.dispose();
  await removeAll(namespace);
});

test('the commands of the guide end with every pod Ready under pod security "restricted"', async () => {
  // The image exists already, and so do the namespace and the secrets.
  const lines = INSTALL!
    .replaceAll(/ \\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => !/^(docker|helm test) /.test(line))
    .map((line) => (/^kubectl .*\bcreate /.test(line) ? `${line} --dry-run=client` : line))
    .map((line) => (line.startsWith('IMAGE=') ? `IMAGE=${IMAGE.slice(0, IMAGE.lastIndexOf(':'))}` : line))
    .map((line) => (line.startsWith('helm install ') ? `${line} ${VALUES.join(' ')}` : line));
  expect(lines.filter((line) => line.startsWith('helm install '))).toHaveLength(1);
  await reader.run(lines.join('\n'));
  await openDoors();
  const { items } = await get('pods', '-n', namespace, '-l', 'app.kubernetes.io/name=pergola');
  expect(items.map((pod: Printed) => conditionOf(pod, 'Ready')?.status)).toEqual(['True', 'True', 'True']);
});

test('the commands of the notes serve a first table', async () => {
  const notes = await run('helm', ['get', 'notes', 'pergola', '-n', namespace]);
  const [, block] = /pasted into a shell:\n([\s\S]*)\nTo test the installation/.exec(notes) ?? [];
  const port = String(20_000 + Math.floor(Math.random() * 9_000));
  const script = block!
    .replaceAll('localhost:8080', `localhost:${port}`)
    .replace(' 8080:8080', ` ${port}:8080`);
  const said = await run('bash', ['-ec', script]);
  expect(said).toContain('table.pergola.dev/first-table condition met');
  expect(said).toContain('{"data":{"first_table":[]}}');
  await kubectl('-n', namespace, 'delete', 'table.pergola.dev/first-table');
});

test('every example becomes Ready', async () => {
  await doors[0]!.admin('run_sql', { sql: SEED });
  await apply(MANIFEST, '-n', namespace);
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
});

test('every replica serves what is Ready, with only the rows of the caller', async () => {
  for (const door of doors) {
    const answer = await door.graphql(QUERY, 'reader', AMINA);
    expect(answer).toEqual({
      data: {
        loan: [
          {
            book: { title: 'The Dispossessed', author: { name: 'Ursula K. Le Guin' } },
            due_on: '2025-02-07',
          },
          { book: { title: 'Solaris', author: { name: 'Stanisław Lem' } }, due_on: '2025-03-29' },
        ],
      },
    });
  }
});

test('a field that a permission leaves out does not exist for the role, on any replica', async () => {
  for (const door of doors) {
    const price = await door.graphql('{ book { pricePaid } }', 'reader', AMINA);
    expect(price.errors?.[0]?.message).toBe("field 'pricePaid' not found in type: 'book'");
    const stranger = await door.graphql('{ book { id } }', 'stranger');
    expect(stranger.errors?.[0]?.message).toBe("field 'book' not found in type: 'query_root'");
  }
});

test('changing a resource changes the response, and reverting the change restores it', async () => {
  const hidden = '[{"op": "replace", "path": "/spec/select/columns", "value": ["id", "name"]}]';
  await kubectl('-n', namespace, 'patch', 'tablepermission', 'reader-author', '--type=json', '-p', hidden);
  await until('the column is hidden', async () => {
    const answer = await doors[1]!.graphql('{ author { country } }', 'reader', AMINA);
    return answer.errors?.[0]?.message === "field 'country' not found in type: 'author'";
  });
  await apply(MANIFEST, '-n', namespace);
  await until('it is shown again', async () => {
    const answer = await doors[1]!.graphql('{ author(limit: 1) { country } }', 'reader', AMINA);
    return answer.errors === undefined;
  });
});

test('a broken resource names the problem and the object, and affects no other resource', async () => {
  const broken = readFileSync(`${LIBRARY}/tables/author.yaml`, 'utf8').replaceAll('author', 'missing');
  await apply(broken, '-n', namespace);
  await waitFor(namespace, 'condition=Ready=False', 'table/missing');
  const table = await get('table', 'missing', '-n', namespace);
  expect(conditionOf(table, 'Ready')?.reason).toMatch(/^(RejectedByEngine|DependencyNotReady)$/);
  expect(conditionOf(table, 'Ready')?.message).toContain('missing');
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
  expect((await doors[0]!.graphql(QUERY, 'reader', AMINA)).errors).toBeUndefined();
  await kubectl('-n', namespace, 'delete', 'table', 'missing');
});

test('the admin secret is replaced without a refused request, and the operator is never refused', async () => {
  const [next, previous] = ['e2e-next-secret', ADMIN_SECRET];
  const store = (primary: string, secondary: string) => {
    const stringData = { 'admin-secret': primary, 'secondary-admin-secret': secondary };
    return kubectl('-n', namespace, 'patch', 'secret', 'pergola-admin', '-p', JSON.stringify({ stringData }));
  };
  const accepts = async (door: Door, secret: string) => {
    const answer = await door.graphql('{ __typename }', 'admin', { 'x-engine-admin-secret': secret });
    return answer.errors === undefined;
  };
  const everyReplica = (secret: string, isAccepted: boolean) =>
    until(`every replica ${isAccepted ? 'accepts' : 'refuses'} ${secret}`, async () => {
      const answers = await Promise.all(doors.map((door) => accepts(door, secret)));
      return answers.every((answer) => answer === isAccepted);
    });
  const restarts = async () =>
    (await get('pods', '-n', namespace)).items.map((pod: Printed) => pod.metadata.uid).toSorted();
  const pods = await restarts();
  const reasons = new Set<string>();
  let refused = 0;
  let isOver = false;
  const client = (async () => {
    while (!isOver) {
      const answers = await Promise.all(doors.map((door) => accepts(door, previous)));
      refused += answers.filter((answer) => !answer).length;
      reasons.add(conditionOf(await get('engine.pergola.dev', 'main', '-n', namespace), 'Ready').reason);
    }
  })();
  await store(previous, next);
  await everyReplica(next, true);
  await store(next, previous);
  // The operator has the new secret at once, and the engine may still have the files of the step before.
  await kubectl(
    '-n',
    namespace,
    'annotate',
    'engine.pergola.dev',
    'main',
    `pergola.dev/reconcile-now=${Date.now()}`,
    '--overwrite',
  );
  await apply(MANIFEST, '-n', namespace);
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
  // Replaced again, by the previous one, without a secondary secret.
  await store(previous, '');
  await everyReplica(next, false);
  isOver = true;
  await client;
  expect(refused).toBe(0);
  expect([...reasons]).toEqual(['Applied']);
  expect(await restarts()).toEqual(pods);
  const events = await get('events.events.k8s.io', '-n', namespace);
  expect(events.items.filter((event: Printed) => event.reason === 'EngineRejectedCredentials')).toEqual([]);
});

test('every engine gets the key of named values that the operator created', async () => {
  const { data } = await get('secret', 'pergola-values-key', '-n', namespace);
  expect(Buffer.from(Buffer.from(data['values-key'], 'base64').toString(), 'base64').length).toBe(32);
  for (const door of doors)
    await until('the engine can store a named value', async () => {
      const values = [{ name: 'of-the-installation', value: 'text' }];
      return JSON.stringify(await door.metadata('set_values', { values })).includes('success');
    });
});

test('helm test passes', async () => {
  await run('helm', ['test', 'pergola', '-n', namespace, '--timeout', '300s']);
});

test('the operator has the rights in the chart, and no others', async () => {
  const may = (verb: string, what: string, ...where: readonly string[]) =>
    kubectl('auth', 'can-i', verb, what, `--as=${ACCOUNT}`, ...where).then(
      () => true,
      () => false,
    );
  expect(await may('watch', 'tables.pergola.dev', '-A')).toBe(true);
  expect(await may('patch', 'tables.pergola.dev', '--subresource=status', '-n', namespace)).toBe(true);
  const refused = [
    ['update', 'tables.pergola.dev'],
    ['patch', 'tables.pergola.dev'],
    ['delete', 'tables.pergola.dev'],
    ['get', 'secrets'],
    ['update', 'secrets'],
    ['delete', 'secrets'],
    ['get', 'pods'],
    ['create', 'pods'],
    ['patch', 'namespaces'],
    ['escalate', 'clusterroles.rbac.authorization.k8s.io'],
    ['delete', 'leases.coordination.k8s.io'],
    ['get', 'customresourcedefinitions.apiextensions.k8s.io'],
  ] as const;
  for (const [verb, what] of refused)
    expect(await may(verb, what, '-n', namespace), `${verb} ${what}`).toBe(false);
});

test('the operator made no forbidden request', async () => {
  const log = await kubectl('-n', namespace, 'logs', 'deployment/pergola-operator', '--tail=-1');
  expect(log.split('\n').filter((line) => /forbidden|"status":40[13]/i.test(line))).toEqual([]);
});

test('uninstalling keeps definitions, resources and data', async () => {
  const resources = await generations();
  for (const door of doors) door.close();
  await run('helm', ['uninstall', 'pergola', '-n', namespace, '--wait', '--timeout', '300s']);
  expect(await generations()).toEqual(resources);
});

test('after another installation everything is unchanged, and the operator has written nothing', async () => {
  await helm(namespace, 'install', CHART, ...VALUES);
  await openDoors();
  const version = async () => {
    const found = await doors[0]!.metadata('export_metadata', {}, 2);
    return (found as { readonly resource_version: number }).resource_version;
  };
  const found = await version();
  expect(found).toBeGreaterThan(0);
  await until('the operator has looked', async () => {
    const service = `/api/v1/namespaces/${namespace}/services/pergola-operator:8081`;
    const metrics = await kubectl('get', '--raw', `${service}/proxy/metrics`);
    return /pergola_pass_total\{[^}]*result="unchanged"[^}]*\} [1-9]/.test(metrics);
  });
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
  expect((await doors[0]!.graphql(QUERY, 'reader', AMINA)).errors).toBeUndefined();
  expect(await version()).toBe(found);
});

test('deleting a resource removes its field', async () => {
  await kubectl('-n', namespace, 'delete', 'tablepermission/reader-loan', '--wait=true');
  await until('the field is gone', async () => {
    const answer = await doors[0]!.graphql('{ loan { id } }', 'reader', AMINA);
    return answer.errors?.[0]?.message === "field 'loan' not found in type: 'query_root'";
  });
});

test('the API server accepts every optional part', async () => {
  const engine = ['autoscaling', 'ingress', 'networkPolicy'].map((part) => `engine.${part}.enabled=true`);
  const operator = ['operator.networkPolicy.enabled=true', 'operator.replicas=2'];
  const rest = [
    'engine.ingress.hosts={a.example.org}',
    'metrics.dashboard.enabled=true',
    'postgres.enabled=true',
  ];
  const values = [...engine, ...operator, ...rest].flatMap((value) => ['--set', value]);
  const objects = await run('helm', ['template', 'pergola', CHART, '-n', namespace, ...values]);
  const asHelm = ['--server-side', '--field-manager=helm', '--force-conflicts', '--dry-run=server'];
  const said = await apply(objects, '-n', namespace, '--validate=strict', ...asHelm);
  const kinds = ['horizontalpodautoscaler', 'ingress', 'networkpolicy', 'poddisruptionbudget', 'statefulset'];
  for (const kind of kinds) expect(said).toContain(kind);
});

test('the commands for removing it leave nothing but what the guide lists', async () => {
  for (const door of doors) door.close();
  await reader.run(REMOVE!);
  await until('the pods and what belonged to them are gone', async () => {
    const left = (await objects()).filter((name) => !before.includes(name));
    if (left.length > 0) throw new Error(left.join(', '));
    return true;
  });
});

/** Opens a door to each engine. */
async function openDoors(): Promise<void> {
  const { items } = await get('pods', '-n', namespace, '-l', 'app.kubernetes.io/component=engine');
  doors = items
    .filter((pod: Printed) => pod.metadata.deletionTimestamp === undefined)
    .map((pod: Printed) => new Door(namespace, `pod/${pod.metadata.name}`));
  expect(doors).toHaveLength(2);
}

async function generations(): Promise<Record<string, number>> {
  const { items } = await get('pergola', '-n', namespace);
  return Object.fromEntries(
    items.map(({ kind, metadata }: Printed) => [`${kind}/${metadata.name}`, metadata.generation]),
  );
}

/** Returns the names of all objects of the namespace, and of those of the cluster that are Pergola's. Events pass by themselves. */
async function objects(): Promise<readonly string[]> {
  const named = async (isNamespaced: boolean, ...where: readonly string[]) => {
    const kinds = ['api-resources', `--namespaced=${isNamespaced}`, '--verbs=list', '-o', 'name'];
    const types = (await kubectl(...kinds))
      .trim()
      .split('\n')
      .filter((type) => !/^events\b/.test(type));
    return (await kubectl('get', types.join(','), '-o', 'name', ...where)).trim().split('\n');
  };
  const ofCluster = (await named(false)).filter((name) => /pergola/.test(name) && !/^namespace\//.test(name));
  return [...(await named(true, '-n', namespace)), ...ofCluster];
}

function conditionOf(object: Printed, type: string): Printed {
  return object.status?.conditions?.find((condition: Printed) => condition.type === type);
}
