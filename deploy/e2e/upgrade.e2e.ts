/** Tests an installation that is upgraded from the previous release, rolled back, uninstalled and installed again, with resources in the
 *  cluster and, while a release is installed, a client that sends requests without a pause. No request fails, and nothing is lost.
 *  The steps are one story and run in order. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sentMore, startClient, stopClient, tally } from './client.ts';
import { apply, get, kubectl, type Printed, run, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { AMINA, MANIFEST, QUERY, RESOURCE_NAMES, SEED } from './examples.ts';
import {
  CHART,
  createNamespace,
  createPostgres,
  helm,
  install,
  previousChart,
  removeAll,
  uniqueName,
} from './release.ts';

const namespace = uniqueName('pergola-upgrade');
const door = new Door(namespace, 'service/pergola-engine');
/** Values with a long preStop: on a busy machine, nodes learn late that a pod is being deleted. */
const VALUES = [
  '--set',
  'engine.replicas=2,engine.preStopSeconds=15,engine.terminationGracePeriodSeconds=90',
];

beforeAll(async () => {
  await createNamespace(namespace);
  await createPostgres(namespace);
});

afterAll(async () => {
  door.close();
  await stopClient(namespace);
  await removeAll(namespace);
});

test('the previous release serves the examples', async () => {
  await install(namespace, previousChart(), ...VALUES);
  await door.admin('run_sql', { sql: SEED });
  await apply(MANIFEST, '-n', namespace);
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
  await startClient(namespace);
});

test('during an upgrade no request fails and no resource changes, and the definitions are upgraded', async () => {
  const before = await generations();
  await helm(namespace, 'upgrade', CHART, '--reset-then-reuse-values');
  const { failed, failures } = await sentMore(namespace);
  expect({ failed, failures }).toEqual({ failed: 0, failures: [] });
  expect(await generations()).toEqual(before);
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
  await expectDefinitionsOfTheChart();
});

test('during a rollback no request fails either', async () => {
  await run('helm', ['rollback', 'pergola', '1', '-n', namespace, '--wait', '--timeout', '300s']);
  const { failed, failures } = await sentMore(namespace);
  expect({ failed, failures }).toEqual({ failed: 0, failures: [] });
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
});

test('uninstalling keeps definitions, resources and data', async () => {
  await stopClient(namespace);
  const before = await generations();
  await run('helm', ['uninstall', 'pergola', '-n', namespace, '--wait', '--timeout', '300s']);
  expect(await generations()).toEqual(before);
});

test('after another installation everything is unchanged, and the operator has written nothing', async () => {
  await install(namespace, CHART, ...VALUES);
  door.close();
  const { resource_version: found } = await exported();
  await until('the operator has looked', async () => {
    return /pergola_pass_total\{[^}]*result="unchanged"[^}]*\} [1-9]/.test(await operatorMetrics());
  });
  await waitFor(namespace, 'condition=Ready', ...RESOURCE_NAMES);
  expect((await door.graphql(QUERY, 'reader', AMINA)).errors).toBeUndefined();
  expect((await exported()).resource_version).toBe(found);
  await startClient(namespace);
  expect((await tally(namespace)).failed).toBe(0);
});

async function generations(): Promise<Record<string, number>> {
  const { items } = await get('pergola', '-n', namespace);
  return Object.fromEntries(
    items.map(({ kind, metadata }: Printed) => [`${kind}/${metadata.name}`, metadata.generation]),
  );
}

/** Checks that the cluster has the chart's definitions: `kubectl diff` fails if applying them would change something. */
async function expectDefinitionsOfTheChart(): Promise<void> {
  const rendered = await run('helm', ['template', 'pergola', 'charts/pergola-crds']);
  const asAnother = ['--server-side', '--field-manager=e2e', '--force-conflicts'];
  await run('kubectl', ['diff', ...asAnother, '-f', '-'], rendered);
}

async function exported(): Promise<{ resource_version: number }> {
  return (await door.metadata('export_metadata', {})) as { resource_version: number };
}

function operatorMetrics(): Promise<string> {
  const service = `/api/v1/namespaces/${namespace}/services/pergola-operator:8081`;
  return kubectl('get', '--raw', `${service}/proxy/metrics`);
}
