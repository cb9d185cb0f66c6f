/** Tests PermissionTests that run after changes, from the API server to the engine: the condition `Passed`, a gate of the Engine, and tests that
 *  do not run, and the results in the engine. Uses a real API server, the real engine, and the rights of the chart. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

const SCHEMA = `create table note (id int primary key, owner text not null, body text not null);
  insert into note values (1, 'ann', 'top secret'), (2, 'ben', 'top secret')`;

await describeKube('permission tests', (kube) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    await rig.startOperator();
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  const object = (kind: string, name: string, spec: object, namespace = HOME): KubeObject => ({
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name, namespace },
    spec: { engineRef: { name: 'main', namespace: HOME }, ...spec },
  });
  const note = (filter: object) =>
    object('Table', 'note', {
      source: 'default',
      table: 'note',
      permissions: [{ role: 'reader', select: { columns: ['id', 'body'], filter } }],
    });
  const OWN = { owner: { _eq: 'X-Engine-User-Id' } };
  const ownNotes = {
    role: 'reader',
    sessionVariables: { 'X-Engine-User-Id': 'ann' },
    query: '{ note { id body } }',
    expect: { rows: [{ path: 'note', count: 1, excludes: [{ id: 2 }] }] },
    runAfterApply: true,
    gate: { kind: 'Engine' },
  };
  /** Waits until the condition has the reason and its message contains the text. */
  const passedAs = (name: string, reason: string, text = '', namespace = HOME) =>
    vi.waitFor(
      async () => {
        const { status, metadata } = await rig.get('PermissionTest', name, namespace);
        const found = status?.conditions?.find(({ type }) => type === 'Passed');
        expect(found).toMatchObject({ reason, observedGeneration: metadata.generation });
        expect(found!.message).toContain(text);
        return found!.message;
      },
      { timeout: 25_000, interval: 50 },
    );
  const setPolicy = (permissionTests: string) =>
    rig.kube.request(
      'PATCH',
      `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`,
      { spec: { policies: { permissionTests } } },
      'application/merge-patch+json',
    );

  /** Returns what the engine shows of the test `own-notes`, with what it covers. */
  const recorded = async () => {
    const { body } = await rig.engine().admin<{
      readonly tests: readonly { readonly resource: string }[];
      readonly covered: readonly {
        readonly role: string;
        readonly operation: string;
        readonly table: { readonly name: string };
      }[];
    }>('get_permission_tests', {});
    const found = body.tests.find(({ resource }) => resource === `PermissionTest ${HOME}/own-notes`);
    const covered = body.covered.map(({ role, operation, table }) => `${role} ${operation} ${table.name}`);
    return { ...found, covered };
  };
  const resourceVersion = async () =>
    (await rig.engine().admin<{ readonly resource_version: number }>('get_ownership', {})).body
      .resource_version;

  test('a test runs once its Engine says so, notices a wider filter, and the Engine waits for it', async () => {
    await rig.kube.apply(note(OWN), object('PermissionTest', 'own-notes', ownNotes));
    await passedAs('own-notes', 'NotRun', 'spec.policies.permissionTests');
    await rig.ready('PermissionTest', 'own-notes', 'DependencyNotReady');
    await setPolicy('Run');
    await passedAs('own-notes', 'TestPassed');
    await rig.ready('Engine', 'main', 'Applied');

    await rig.kube.apply(note({ id: { _gt: 0 } }));
    const message = await passedAs('own-notes', 'TestFailed');
    expect(message).toBe('The response differs at note.');
    await rig.ready('PermissionTest', 'own-notes', 'TestFailed');
    expect((await rig.ready('Engine', 'main', 'TestFailed')).message).toContain(
      `PermissionTest ${HOME}/own-notes`,
    );
    await vi.waitFor(async () => expect(await recorded()).toMatchObject({ reason: 'TestFailed' }));
    // The wider permission is applied: a gate reports, and the resources stay the truth.
    await rig.ready('Table', 'note', 'Applied');
    const all = await rig.kube.request('GET', `/apis/${GROUP_VERSION}/permissiontests`);
    expect(JSON.stringify(all.body.items.map(({ status }: { status: unknown }) => status))).not.toContain(
      'secret',
    );

    await rig.kube.apply(note(OWN));
    await passedAs('own-notes', 'TestPassed');
    await rig.ready('Engine', 'main', 'Applied');
    const [version, seen] = [await resourceVersion(), await recorded()];
    expect(seen).toMatchObject({ role: 'reader', reason: 'TestPassed', is_request_stored: true });
    expect(seen.covered).toEqual(['reader select note']);
    // The engine has the resource as it was written, without what the API server adds.
    const { body: owned } = await rig.engine().admin('get_ownership', { resource: `Table ${HOME}/note` });
    const { apiVersion, kind, spec } = note(OWN);
    const metadata = { name: 'note', namespace: HOME };
    expect(owned).toMatchObject({ manifest: { apiVersion, kind, metadata, spec } });
    expect(JSON.stringify(owned)).not.toContain('managedFields');
    // Another pass stores nothing new.
    await rig.kube.request(
      'PATCH',
      `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`,
      { metadata: { annotations: { 'pergola.dev/reconcile-now': 'again' } } },
      'application/merge-patch+json',
    );
    await rig.ready('Engine', 'main', 'Applied');
    expect(await resourceVersion()).toBe(version);
    await setPolicy('Ignore');
    await passedAs('own-notes', 'NotRun');
    await vi.waitFor(async () => expect(await recorded()).toMatchObject({ reason: 'NotRun' }));
  });

  test('a Table is not Ready while a test that gates it fails', async () => {
    const gate = { kind: 'Table', name: 'note' };
    await setPolicy('Run');
    await rig.kube.apply(note(OWN), object('PermissionTest', 'own-notes', { ...ownNotes, gate }));
    await passedAs('own-notes', 'TestPassed');
    await rig.ready('Table', 'note', 'Applied');
    await rig.kube.apply(note({ id: { _gt: 0 } }));
    expect((await rig.ready('Table', 'note', 'TestFailed')).message).toContain(
      `PermissionTest ${HOME}/own-notes`,
    );
    await rig.ready('Engine', 'main', 'Applied');
    await rig.kube.apply(note(OWN));
    await rig.ready('Table', 'note', 'Applied');
    await rig.remove('PermissionTest', 'own-notes');
  });

  test('the API server refuses a gate without the name of its Table', async () => {
    for (const gate of [{ kind: 'Table' }, { kind: 'Engine', name: 'main' }, 'Engine']) {
      const refused = rig.kube.apply(object('PermissionTest', 'gate', { ...ownNotes, gate }));
      await expect(refused).rejects.toThrow('spec.gate');
    }
  });

  test('a test of another namespace does not run', async () => {
    await setPolicy('Run');
    await rig.kube.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team', labels: { graphql: 'yes' } },
    });
    await rig.kube.apply(object('PermissionTest', 'theirs', { ...ownNotes, role: 'admin' }, 'team'));
    await passedAs('theirs', 'NotRun', `Only tests in ${HOME}`, 'team');
    await rig.remove('PermissionTest', 'theirs', 'team');
  });

  test('the API server refuses a test that would write after each change', async () => {
    const query = 'mutation { delete_note(where: {}) { affected_rows } }';
    await expect(rig.kube.apply(object('PermissionTest', 'writes', { ...ownNotes, query }))).rejects.toThrow(
      'must not change data',
    );
  });
});
