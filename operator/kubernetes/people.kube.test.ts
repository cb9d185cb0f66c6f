/** Tests what users control by annotations and see in statuses: pauses, plans, an immediate pass, `Applying`, versions of Secrets and
 *  ConfigMaps. Uses a real API server, the real engine, and the rights of the chart.
 *  Each test continues from the state that the previous one left. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION, kindOf } from '../kinds.ts';
import type { Operator } from './operator.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

const SCHEMA =
  "create table author (id serial primary key, name text); insert into author (name) values ('Ann')";

function cr(kind: string, name: string, spec: object): KubeObject {
  const metadata = { name, namespace: HOME };
  return { apiVersion: GROUP_VERSION, kind, metadata, spec: { engineRef: { name: 'main' }, ...spec } };
}

const AUTHOR = { source: 'default', table: 'author' };
const tracked = cr('Table', 'author', AUTHOR);
const permission = (columns: readonly string[]) =>
  cr('TablePermission', 'reader', { ...AUTHOR, role: 'reader', select: { columns, filter: {} } });

const nightly = cr('CronTrigger', 'nightly', {
  name: 'nightly',
  schedule: '0 3 * * *',
  webhook: { configMapKeyRef: { name: 'webhooks', key: 'nightly' } },
  headers: [{ name: 'x-key', secretKeyRef: { name: 'keys', key: 'nightly' } }],
});
const holder = (kind: 'Secret' | 'ConfigMap', name: string, value: string): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: HOME },
  data: { nightly: kind === 'Secret' ? Buffer.from(value).toString('base64') : value },
});

await describeKube('annotations and statuses for users', (kube) => {
  let rig: Rig;
  let operator: Operator;

  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    operator = await rig.startOperator();
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  const eventually = <T>(look: () => Promise<T> | T, seconds = 25) =>
    vi.waitFor(look, { timeout: seconds * 1000, interval: 50 });
  const namesSeen = async () =>
    (await rig.engine().graphql('{ author { name } }', { role: 'reader' })).errors === undefined;
  const patch = async (kind: string, name: string, change: object) => {
    const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/${kindOf(kind)!.plural}/${name}`;
    const { status } = await rig.kube.request('PATCH', path, change, 'application/merge-patch+json');
    expect(status).toBe(200);
  };
  const annotate = (kind: string, name: string, annotations: Readonly<Record<string, string | null>>) =>
    patch(kind, name, { metadata: { annotations } });
  const metadata = async () => JSON.stringify((await rig.engine().admin<object>('export_metadata', {})).body);
  const passes = async () => {
    const text = await (await fetch(`http://127.0.0.1:${operator.healthPort}/metrics`)).text();
    return [...text.matchAll(/^pergola_pass_total\{.*\} (\d+)$/gm)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
  };

  test('a field that the API server dropped is named, and the last accepted version is served', async () => {
    await rig.kube.apply(tracked, permission(['id']));
    await rig.ready('TablePermission', 'reader', 'Applied');
    const spec = permission(['id', 'name'])['spec'] as { readonly select: object };
    const misspelt = { ...spec, select: { ...spec.select, maxRow: 5 } };
    // As a client does that validates nothing: what was applied is in the annotation, what is stored has no unknown field.
    const lastApplied = JSON.stringify({
      apiVersion: GROUP_VERSION,
      kind: 'TablePermission',
      spec: misspelt,
    });
    const annotation = { 'kubectl.kubernetes.io/last-applied-configuration': lastApplied };
    await patch('TablePermission', 'reader', { metadata: { annotations: annotation }, spec: misspelt });
    const { message } = await rig.ready('TablePermission', 'reader', 'InvalidSpec');
    expect(message).toContain('spec.select.maxRow is not a field');
    expect(message).toContain('the API server dropped');
    expect(await namesSeen()).toBe(false);
    // Only the annotation changes: the stored spec never had the field.
    const mended = JSON.stringify({ apiVersion: GROUP_VERSION, kind: 'TablePermission', spec });
    await annotate('TablePermission', 'reader', {
      'kubectl.kubernetes.io/last-applied-configuration': mended,
    });
    await rig.ready('TablePermission', 'reader', 'Applied');
    expect(await namesSeen()).toBe(true);
    await annotate('TablePermission', 'reader', { 'kubectl.kubernetes.io/last-applied-configuration': null });
  });

  test('a resource is paused until the time of its annotation and then continues by itself', async () => {
    await rig.kube.apply(tracked, permission(['id']));
    await rig.ready('TablePermission', 'reader', 'Applied');
    await annotate('TablePermission', 'reader', { 'pergola.dev/pause-until': '2999-01-01T00:00:00Z' });
    await rig.kube.apply(permission(['id', 'name']));
    const { message } = await rig.ready('TablePermission', 'reader', 'Paused');
    expect(message).toContain('2999-01-01');
    expect(await namesSeen()).toBe(false);
    const soon = new Date(Date.now() + 2000).toISOString();
    await annotate('TablePermission', 'reader', { 'pergola.dev/pause-until': soon });
    await rig.ready('TablePermission', 'reader', 'Applied');
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon));
    expect(await namesSeen()).toBe(true);
  });

  test('a plan lists the changes without applying them, and removing the annotation applies them', async () => {
    await annotate('TablePermission', 'reader', { 'pergola.dev/plan': 'true' });
    await rig.kube.apply(permission(['id']));
    await eventually(async () => {
      const { status } = await rig.get('TablePermission', 'reader');
      expect(status?.plan?.slice(0, 3)).toEqual([
        '~ select permission default/public/author/reader',
        '    permission.columns[]: - "name"',
        '    reader reaches less: columns: id, name → id',
      ]);
      expect(status?.plan?.[3]).toMatch(/^schema of reader: [1-9]\d* breaking/);
      expect(status?.plan).toContainEqual(expect.stringMatching(/^ {2}breaking: .*\bauthor\.name\b/));
    });
    await rig.ready('TablePermission', 'reader', 'Paused');
    expect(await namesSeen()).toBe(true);
    await annotate('TablePermission', 'reader', { 'pergola.dev/plan': null });
    await rig.ready('TablePermission', 'reader', 'Applied');
    expect(await namesSeen()).toBe(false);
    expect((await rig.get('TablePermission', 'reader')).status).not.toHaveProperty('plan');
  });

  test('nothing is written to an engine while its Engine is paused', async () => {
    await annotate('Engine', 'main', { 'pergola.dev/pause-until': '2999-01-01T00:00:00Z' });
    await rig.ready('Engine', 'main', 'Paused');
    await rig.kube.apply(permission(['id', 'name']));
    await annotate('Engine', 'main', { 'pergola.dev/pause-until': '2999-01-02T00:00:00Z' });
    await eventually(async () =>
      expect((await rig.ready('Engine', 'main', 'Paused')).message).toContain('01-02'),
    );
    expect(await namesSeen()).toBe(false);
    await annotate('Engine', 'main', { 'pergola.dev/pause-until': null });
    await rig.ready('TablePermission', 'reader', 'Applied');
    await rig.ready('Engine', 'main', 'Applied');
    expect(await namesSeen()).toBe(true);
  });

  test('any new value of the reconcile-now annotation starts a pass', async () => {
    const before = await passes();
    await annotate('Table', 'author', { 'pergola.dev/reconcile-now': '1' });
    await eventually(async () => expect(await passes()).toBeGreaterThan(before));
    const between = await passes();
    await annotate('Engine', 'main', { 'pergola.dev/reconcile-now': '1' });
    await eventually(async () => expect(await passes()).toBeGreaterThan(between));
  });

  test('a status that another client has emptied or overwritten is mended at once, and by reconcile-now', async () => {
    const { status } = await rig.get('TablePermission', 'reader');
    const overwrite = (value: unknown) =>
      rig.kube.kubectl([
        ...['patch', 'tablepermission.pergola.dev/reader', '-n', HOME, '--subresource=status', '--type=json'],
        ...['-p', JSON.stringify([{ op: 'replace', path: '/status', value }])],
      ]);
    const older = status!.conditions.map((condition) => ({ ...condition, observedGeneration: 0 }));
    // A condition that is back has a new time.
    const withoutTimes = status!.conditions.map(({ lastTransitionTime: _, ...condition }) => condition);
    const isMended = () =>
      eventually(async () =>
        expect((await rig.get('TablePermission', 'reader')).status?.conditions).toMatchObject(withoutTimes),
      );
    for (const value of [{}, { ...status, conditions: [] }, { ...status, conditions: older }]) {
      await overwrite(value);
      await isMended();
    }
    await overwrite({
      ...status,
      conditions: status!.conditions.map((one) => ({ ...one, message: 'by another client' })),
    });
    await annotate('Engine', 'main', { 'pergola.dev/reconcile-now': '2' });
    await isMended();
  });

  test('a new generation has the reason Applying while the engine responds slowly', async () => {
    const holding = new pg.Client({ connectionString: rig.database.url });
    await holding.connect();
    await holding.query('begin; lock table pergola.metadata in exclusive mode');
    await rig.kube.apply(permission(['id']));
    await rig.ready('TablePermission', 'reader', 'Applying');
    const { status } = await rig.get('TablePermission', 'reader');
    expect(status?.conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Ready=Unknown',
      'Reconciling=True',
    ]);
    await holding.end();
    await rig.ready('TablePermission', 'reader', 'Applied');
  });

  test('a value of a Secret or ConfigMap is written to the engine, and the status has its version but not the value', async () => {
    const [url, key] = ['http://one.example.org/hook', 'first-key'];
    await rig.kube.apply(holder('ConfigMap', 'webhooks', url), holder('Secret', 'keys', key), nightly);
    await rig.ready('CronTrigger', 'nightly', 'Applied');
    expect(await metadata()).toContain(url);
    expect(await metadata()).toContain('from_value');
    expect(await metadata()).not.toContain(key);
    const { status } = await rig.get('CronTrigger', 'nightly');
    expect(status?.observedConfigMaps).toEqual([{ name: 'webhooks', resourceVersion: expect.any(String) }]);
    expect(status?.observedSecrets).toEqual([{ name: 'keys', resourceVersion: expect.any(String) }]);
    expect(JSON.stringify(status)).not.toMatch(/one\.example|first-key/);
    expect((await rig.get('Engine', 'main')).status?.observedSecrets?.map(({ name }) => name)).toEqual([
      'engine-admin',
    ]);
  });

  test('a changed Secret or ConfigMap updates the engine long before the next full comparison', async () => {
    const valueVersion = async () => {
      type Listed = { readonly values: readonly { readonly version: number }[] };
      const { body } = await rig.engine().admin<Listed>('list_values', {});
      return Math.max(...body.values.map(({ version }) => version));
    };
    const versions = async () => {
      const { observedSecrets, observedConfigMaps } = (await rig.get('CronTrigger', 'nightly')).status!;
      return [observedSecrets?.[0]?.resourceVersion, observedConfigMaps?.[0]?.resourceVersion];
    };
    const before = await versions();
    const earlier = await valueVersion();
    await rig.kube.apply(holder('Secret', 'keys', 'second-key'));
    await eventually(async () => expect(await valueVersion()).toBeGreaterThan(earlier));
    await rig.kube.apply(holder('ConfigMap', 'webhooks', 'http://two.example.org/hook'));
    await eventually(async () => expect(await metadata()).toContain('two.example.org'));
    expect(await metadata()).not.toMatch(/first-key|one\.example/);
    await eventually(async () => {
      const after = await versions();
      expect(after[0]).not.toBe(before[0]);
      expect(after[1]).not.toBe(before[1]);
    });
  });
});
