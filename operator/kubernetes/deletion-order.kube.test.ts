/** Tests the deletion of an Engine with its resources and its Secret, in every order, with the rights of the chart: an Engine with
 *  waitForDeletion removes what its deleted resources declared, and nothing stays for ever, whatever is deleted first.
 *  The API server of the test has no controllers, so the test deletes what is in a namespace, as the namespace controller does.
 *  Not here: the deletion of single resources (deletion.kube.test.ts). */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeHelm } from '../../testing/helm.ts';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION, kindOf } from '../kinds.ts';
import { FINALIZER } from './deletion.ts';
import type { Operator } from './operator.ts';
import { createDeletionRig, eventually, TEAM, WAITS } from './testing/deletion-rig.ts';
import { HOME, type Rig } from './testing/rig.ts';

const SCHEMA = ['author', 'book'].map((name) => `create table ${name} (id int primary key)`).join(';');

const SECRET: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'own-admin', namespace: TEAM },
  data: { 'admin-secret': Buffer.from('first-secret').toString('base64') },
};

function cr(kind: string, name: string, spec: object): KubeObject {
  return { apiVersion: GROUP_VERSION, kind, metadata: { name, namespace: TEAM }, spec };
}

const table = (name: string, more: object = {}) =>
  cr('Table', name, { engineRef: { name: 'own' }, source: 'default', table: name, ...more });

await describeKube('the deletion of an Engine with its resources', (kube) => {
  describeHelm('with the rights of the chart', (helm) => {
    let rig: Rig;
    let operator: Operator;

    beforeAll(async () => {
      ({ rig, operator } = await createDeletionRig(kube(), helm, SCHEMA));
    }, 180_000);
    afterAll(() => rig?.close(), 30_000);
    beforeEach(async () => {
      await eventually(async () => expect(await existing()).toEqual([]));
    });

    const engine = (more: object = {}) =>
      cr('Engine', 'own', {
        endpoint: { url: rig.engine().url },
        adminSecretRef: { name: 'own-admin', key: 'admin-secret' },
        polling: { versionSeconds: 1 },
        // The tests delete all there is.
        policies: { pruneGuard: { maxObjects: 1000 } },
        ...more,
      });
    const pathOf = (kind: string) =>
      kind === 'Secret'
        ? `/api/v1/namespaces/${TEAM}/secrets`
        : `/apis/${GROUP_VERSION}/namespaces/${TEAM}/${kindOf(kind)!.plural}`;
    const existing = async () => {
      const items = [...(await rig.all('Engine')), ...(await rig.all('Table'))];
      return items.filter(({ metadata }) => metadata.namespace === TEAM).map(({ metadata }) => metadata.name);
    };
    const remove = async (kind: string, name: string) => {
      const { status } = await kube().request('DELETE', `${pathOf(kind)}/${name}`);
      expect(status).toBe(200);
    };
    const tracked = async () => {
      const { body } = await rig.engine().admin<Exported>('export_metadata', {});
      return body.sources.flatMap(({ tables }) => tables.map((one) => one.table.name)).toSorted();
    };
    const isGone = () => eventually(async () => expect(await existing()).toEqual([]));
    const isRemoved = () => eventually(async () => expect(await tracked()).toEqual([]));
    /** Creates an Engine that waits for its deletion, with two Tables that are served. */
    const created = async (more: object = WAITS, ofTables: object = {}) => {
      await kube().apply(SECRET, engine(more), table('author', ofTables), table('book', ofTables));
      for (const name of ['author', 'book']) await rig.ready('Table', name, 'Applied', TEAM);
      expect(await tracked()).toEqual(['author', 'book']);
    };
    const hasFinalizer = async () =>
      (await rig.get('Engine', 'own', TEAM)).metadata.finalizers?.includes(FINALIZER) === true;
    const restarted = async (flags: readonly string[]) => {
      await operator.stop();
      operator = await rig.startOperator(flags);
    };

    test('the Engine first: it stays until its resources are deleted, and says which', async () => {
      await created();
      expect(await hasFinalizer()).toBe(true);
      expect((await rig.ready('Engine', 'own', 'Applied', TEAM)).message).not.toContain('waitForDeletion');
      await remove('Engine', 'own');
      const { message } = await rig.ready('Engine', 'own', 'Deleting', TEAM);
      expect(message).toBe('Waits for Table team/author and 1 more to be deleted.');
      expect(await tracked()).toEqual(['author', 'book']);
      await remove('Table', 'author');
      await eventually(async () => expect(await tracked()).toEqual(['book']));
      await remove('Table', 'book');
      await isGone();
      expect(await tracked()).toEqual([]);
    });

    test('the Tables first: they are removed from the engine before the Engine is gone', async () => {
      await created();
      await remove('Table', 'author');
      await remove('Table', 'book');
      await remove('Engine', 'own');
      await isGone();
      expect(await tracked()).toEqual([]);
    });

    test.each([
      ['Tables that do not wait', {}],
      ['Tables that wait for their deletion', WAITS],
    ])('everything at once, the Secret first: %s', async (_, ofTables) => {
      await created(WAITS, ofTables);
      await remove('Secret', 'own-admin');
      await remove('Engine', 'own');
      await remove('Table', 'author');
      await remove('Table', 'book');
      await isGone();
      expect(await tracked()).toEqual([]);
    });

    test('kubectl delete of one file with everything returns, and the engine serves none of it', async () => {
      await created();
      const manifests = JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [engine(WAITS), SECRET, table('author'), table('book')],
      });
      await kube().kubectl(['delete', '-f', '-', '--timeout=60s'], manifests);
      expect(await existing()).toEqual([]);
      expect(await tracked()).toEqual([]);
    });

    test('a namespace: whatever is deleted first, its objects are removed', async () => {
      for (const kinds of [
        ['Secret', 'Engine', 'Table'],
        ['Table', 'Secret', 'Engine'],
      ]) {
        await created();
        for (const kind of kinds) await kube().request('DELETE', pathOf(kind));
        await isGone();
        expect(await tracked()).toEqual([]);
      }
    });

    test('an engine that does not answer: everything is deleted after the grace period', async () => {
      await created(WAITS, WAITS);
      await rig.stopEngine();
      await remove('Engine', 'own');
      await remove('Table', 'author');
      await remove('Table', 'book');
      await isGone();
      await rig.startEngine();
      // Nobody is left to remove them. An Engine of the same name owns them again.
      expect(await tracked()).toEqual(['author', 'book']);
      await kube().apply(SECRET, engine());
      await isRemoved();
      await remove('Engine', 'own');
    }, 180_000);

    test('an operator that starts after the Secret was deleted releases the Engine at once', async () => {
      await created();
      await operator.stop();
      await remove('Secret', 'own-admin');
      await remove('Engine', 'own');
      await remove('Table', 'author');
      await remove('Table', 'book');
      operator = await rig.startOperator(['--unreachable-grace-seconds', '300']);
      await isGone();
      await kube().apply(SECRET, engine());
      await isRemoved();
      await remove('Engine', 'own');
      await restarted([]);
    }, 180_000);

    test('an Engine alone is deleted after the deadline, and its resources are served on', async () => {
      await restarted(['--progress-deadline-seconds', '3']);
      await created();
      await remove('Engine', 'own');
      await rig.ready('Engine', 'own', 'Deleting', TEAM);
      await eventually(async () => expect(await existing()).toEqual(['author', 'book']));
      await rig.ready('Table', 'author', 'DependencyNotReady', TEAM);
      expect(await tracked()).toEqual(['author', 'book']);
      await kube().apply(engine());
      await rig.ready('Table', 'author', 'Applied', TEAM);
      for (const name of ['author', 'book']) await remove('Table', name);
      await isRemoved();
      await remove('Engine', 'own');
      await restarted([]);
    }, 180_000);

    test('a paused Engine is deleted at once, and its objects stay', async () => {
      await created();
      const annotations = { 'pergola.dev/pause-until': '2999-01-01T00:00:00Z' };
      const path = `${pathOf('Engine')}/own`;
      await kube().request('PATCH', path, { metadata: { annotations } }, 'application/merge-patch+json');
      await rig.ready('Engine', 'own', 'Paused', TEAM);
      await remove('Engine', 'own');
      await eventually(async () => expect(await existing()).toEqual(['author', 'book']));
      expect(await tracked()).toEqual(['author', 'book']);
      await kube().apply(engine());
      await rig.ready('Table', 'author', 'Applied', TEAM);
      for (const name of ['author', 'book']) await remove('Table', name);
      await isRemoved();
      await remove('Engine', 'own');
    });

    test('an Engine in the namespace of the operator does not wait, and says so', async () => {
      const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`;
      const patch = (spec: object) => kube().request('PATCH', path, { spec }, 'application/merge-patch+json');
      await patch(WAITS);
      await eventually(async () => {
        const { message } = await rig.ready('Engine', 'main', 'Applied');
        expect(message).toContain('spec.waitForDeletion has no effect');
      });
      await patch({ waitForDeletion: null });
      await eventually(async () => {
        const { message } = await rig.ready('Engine', 'main', 'Applied');
        expect(message).not.toContain('spec.waitForDeletion');
      });
    });

    test('without waitForDeletion the Engine is deleted at once, and what it served stays', async () => {
      await created({}, WAITS);
      expect(await hasFinalizer()).toBe(false);
      await remove('Engine', 'own');
      await remove('Table', 'author');
      await remove('Table', 'book');
      await isGone();
      expect(await tracked()).toEqual(['author', 'book']);
      await kube().apply(SECRET, engine());
      await isRemoved();
      await remove('Engine', 'own');
    });
  });
});

type Exported = {
  readonly sources: readonly { readonly tables: readonly { readonly table: { readonly name: string } }[] }[];
};
