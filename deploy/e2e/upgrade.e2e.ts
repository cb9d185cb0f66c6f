/** Tests the guide to upgrading with the previous release itself: its image, chart and definitions are installed, resources of every kind are
 *  stored in its form, and the commands of the guide lead to this release and back. While they do, a client sends requests without a pause: none
 *  fails but where the guide says so. No role sees more, and no object is lost.
 *  The steps are one story and run in order. Not here: each old field (operator/kubernetes/upgrade-kinds.kube.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../release/version.ts';
import { sentMore, startClient, stopClient } from './client.ts';
import { apply, get, kubectl, type Printed, run, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { environmentOf, OPTIONS, READER_QUERY, READER_SEES, SEED, startBilling } from './every-kind.ts';
import { commandsOf, Reader } from './guide.ts';
import { HIDDEN, OLD_FORM, VISITOR, VISITOR_QUERY, VISITOR_SEES } from './old-form.ts';
import {
  createNamespace,
  createPostgres,
  helm,
  IMAGE_VALUES,
  PREVIOUS_CHART,
  PREVIOUS_VALUES,
  removeAll,
  uniqueName,
} from './release.ts';

const namespace = uniqueName('pergola-upgrade');
const door = new Door(namespace, 'service/pergola-engine');
const reader = new Reader(namespace);
/** Values with a long preStop: on a busy machine, nodes learn late that a pod is being deleted. */
const VALUES = [
  '--set',
  'engine.replicas=2,engine.preStopSeconds=15,engine.terminationGracePeriodSeconds=90',
  '--set-json',
  `engine.extraEnv=${JSON.stringify(environmentOf('postgres'))}`,
  '--set-json',
  `engine.options=${JSON.stringify(OPTIONS)}`,
];
const FORWARD = commandsOf('upgrading.md', 'The order');
const BACK = commandsOf('upgrading.md', 'Going back');
/** The metadata that the previous release has written. */
let before: Metadata;
/** Members that the releases write differently and read alike: a default, an empty object, an older name. */
const SPELLING = new Set(['isolation_level', 'mapping', 'custom_column_names']);

type Metadata = { readonly resource_version: number; readonly metadata: unknown };

beforeAll(async () => {
  await createNamespace(namespace);
  await createPostgres(namespace);
  await startBilling(namespace);
});

afterAll(async () => {
  door.close();
  reader.dispose();
  await stopClient(namespace);
  await removeAll(namespace);
});

test('the previous release serves resources of every kind that it has', async () => {
  await helm(namespace, 'install', PREVIOUS_CHART, ...PREVIOUS_VALUES, ...VALUES);
  await door.admin('run_sql', { sql: SEED });
  await apply(OLD_FORM, '-n', namespace);
  await everythingIsReady();
  await expectAccess();
  before = await exported();
  await startClient(namespace);
});

test('up to the new release no request fails, nothing changes, and the definitions are upgraded', async () => {
  expect(FORWARD).toHaveLength(6);
  await reader.run(FORWARD[0]!);
  await reader.run(FORWARD[1]!);
  await reader.run(FORWARD[2]!.replace('helm upgrade pergola', `$& ${IMAGE_VALUES.join(' ')}`));
  await expectNoFailure();
  await expectDefinitionsOfTheChart();
  await expectAccess();
  expect((await exported()).resource_version).toBe(before.resource_version);
});

test('the converted resources are Ready, and declare what the previous release has served', async () => {
  for (const commands of FORWARD.slice(3)) await reader.run(commands);
  await everythingIsReady();
  await expectAccess();
  expect((await exported()).metadata).toEqual(before.metadata);
  await expectNoFailure();
});

test('the Engine, the chart and the command have one version, and every definition stores one', async () => {
  const { status } = await get('engine.pergola.dev', 'main', '-n', namespace);
  expect(status.engineVersion).toMatch(new RegExp(`\\+pergola\\.${version().replaceAll('.', '\\.')}$`));
  const [release] = JSON.parse(await run('helm', ['list', '-n', namespace, '-o', 'json']));
  expect(release).toMatchObject({ chart: `pergola-${version()}`, app_version: version() });
  const engine = ['-n', namespace, 'exec', 'deployment/pergola-engine', '--'];
  expect(await kubectl(...engine, 'node', 'bin/pergola.mjs', 'version')).toBe(`pergola ${version()}\n`);
  for (const { metadata, status } of await definitions()) {
    expect([metadata.name, status.storedVersions]).toEqual([metadata.name, ['v1alpha1']]);
  }
});

test('a restart of all pods fails no request', async () => {
  await kubectl('-n', namespace, 'rollout', 'restart', 'deployment/pergola-engine');
  await kubectl('-n', namespace, 'rollout', 'status', 'deployment/pergola-engine', '--timeout=300s');
  await expectNoFailure();
  await stopClient(namespace);
});

test('the way back ends with the previous release, which serves the same', async () => {
  expect(BACK).toHaveLength(6);
  for (const commands of BACK.slice(0, 3)) await reader.run(commands);
  door.close();
  await reader.run(BACK[3]!);
  await startClient(namespace);
  for (const commands of BACK.slice(4)) await reader.run(commands);
  await everythingIsReady();
  await expectAccess();
  expect((await exported()).metadata).toEqual(before.metadata);
  await expectNoFailure();
});

async function everythingIsReady(): Promise<void> {
  const { items } = await get('pergola', '-n', namespace);
  const names = items.map(({ kind, metadata }: Printed) => `${kind.toLowerCase()}/${metadata.name}`);
  expect(names.length).toBeGreaterThan(25);
  await waitFor(namespace, 'condition=Ready', ...names);
}

/** Checks what roles see, and what they do not. */
async function expectAccess(): Promise<void> {
  expect(await door.graphql(READER_QUERY, 'reader')).toEqual(READER_SEES);
  expect(await door.graphql(VISITOR_QUERY, VISITOR)).toEqual(VISITOR_SEES);
  for (const { query, role } of HIDDEN) {
    expect((await door.graphql(query, role)).errors?.[0]?.message).toContain('not found in type');
  }
}

async function expectNoFailure(): Promise<void> {
  const { failed, failures } = await sentMore(namespace);
  expect({ failed, failures }).toEqual({ failed: 0, failures: [] });
}

async function definitions(): Promise<readonly Printed[]> {
  const { items } = await get('customresourcedefinitions');
  return items.filter(({ spec }: Printed) => spec.group === 'pergola.dev');
}

/** Checks that the cluster has the chart's definitions: `kubectl diff` fails if applying them would change something. */
async function expectDefinitionsOfTheChart(): Promise<void> {
  const rendered = await run('helm', ['template', 'pergola', 'charts/pergola-crds']);
  const asAnother = ['--server-side', '--field-manager=e2e', '--force-conflicts'];
  await run('kubectl', ['diff', ...asAnother, '-f', '-'], rendered);
}

async function exported(): Promise<Metadata> {
  const found = (await door.metadata('export_metadata', {}, 2)) as Metadata;
  return { ...found, metadata: comparable(found.metadata) };
}

/** Returns the metadata without SPELLING, and with its lists in one order. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    const text = (one: unknown) => JSON.stringify(one);
    return value.map(comparable).toSorted((a, b) => text(a).localeCompare(text(b)));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !SPELLING.has(name));
  const compared = members.map(([name, member]) => [name, comparable(member)] as const);
  return Object.fromEntries(compared.toSorted(([a], [b]) => a.localeCompare(b)));
}
