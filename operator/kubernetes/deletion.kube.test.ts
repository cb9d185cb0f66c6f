/** Tests waiting deletion with the rights of the chart: a resource with waitForDeletion stays until its objects are deleted from the
 *  engine, never for ever, whatever fails, and no other resource waits.
 *  Not here: deletion without waiting (operator.kube.test.ts), of a namespace (deploy/e2e). */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeHelm } from '../../testing/helm.ts';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { CONFIRM_CHANGE_ANNOTATION } from '../decide/pending-change.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { FINALIZER } from './deletion.ts';
import type { Operator } from './operator.ts';
import { createDeletionRig, eventually, TEAM, WAITS } from './testing/deletion-rig.ts';
import { HOME, type Rig } from './testing/rig.ts';

/** Only one namespace uses `shelf`, because a released name stays reserved for its namespace. */
const SCHEMA = ['author', 'book', 'shelf']
  .map((name) => `create table ${name} (id int primary key)`)
  .join(';');

function table(name: string, more: object = {}, namespace = TEAM): KubeObject {
  const engineRef = { name: 'main', namespace: HOME };
  const spec = { engineRef, source: 'default', table: name, ...more };
  return { apiVersion: GROUP_VERSION, kind: 'Table', metadata: { name, namespace }, spec };
}

await describeKube('waiting deletion', (kube) => {
  describeHelm('with the rights of the chart', (helm) => {
    let rig: Rig;
    let operator: Operator;

    beforeAll(async () => {
      ({ rig, operator } = await createDeletionRig(kube(), helm, SCHEMA));
    }, 180_000);
    afterAll(() => rig?.close(), 30_000);
    afterEach(async () => {
      for (const namespace of [TEAM, HOME]) {
        const tables = `/apis/${GROUP_VERSION}/namespaces/${namespace}/tables`;
        await kube().request('DELETE', tables);
      }
      await eventually(async () => expect(await rig.all('Table')).toEqual([]));
    });

    const finalizers = async (name: string, namespace = TEAM) =>
      (await rig.get('Table', name, namespace)).metadata.finalizers ?? [];
    const ready = (name: string, namespace = TEAM) => rig.ready('Table', name, 'Applied', namespace);
    const isThere = async (name: string) =>
      (await kube().request('GET', `/apis/${GROUP_VERSION}/namespaces/${TEAM}/tables/${name}`)).status ===
      200;
    const tracked = async () => {
      const { body } = await rig.engine().admin<Exported>('export_metadata', {});
      return body.sources.flatMap(({ tables }) => tables.map((one) => one.table.name));
    };
    const restarted = async (flags: readonly string[]) => {
      await operator.stop();
      operator = await rig.startOperator(flags);
    };

    test('a resource without waitForDeletion has no finalizer, nor has one in the namespace of the operator', async () => {
      await rig.kube.apply(table('author'), table('shelf', WAITS, HOME));
      await ready('author');
      await ready('shelf', HOME);
      expect(await finalizers('author')).toEqual([]);
      expect(await finalizers('shelf', HOME)).toEqual([]);
    });

    test('a resource has the finalizer as long as it has waitForDeletion', async () => {
      await rig.kube.apply(table('author', WAITS));
      await ready('author');
      expect(await finalizers('author')).toEqual([FINALIZER]);
      await rig.kube.apply(table('author'));
      await eventually(async () => expect(await finalizers('author')).toEqual([]));
    });

    test('a deleted resource stays and reports it while the engine does not respond, and is removed with its objects', async () => {
      await rig.kube.apply(table('author', WAITS));
      await ready('author');
      await rig.stopEngine();
      await rig.remove('Table', 'author', TEAM);
      const { message } = await rig.ready('Table', 'author', 'Deleting', TEAM);
      expect(message).toContain('does not answer');
      await rig.startEngine();
      await eventually(async () => expect(await isThere('author')).toBe(false));
      expect(await tracked()).toEqual([]);
    });

    test('a deleted resource waits for an object that depends on its own, and names it', async () => {
      await rig.kube.apply(table('author', WAITS));
      await ready('author');
      const permission = { table: 'author', role: 'guest', permission: { columns: ['id'], filter: {} } };
      await rig.engine().admin('pg_create_select_permission', permission);
      await rig.remove('Table', 'author', TEAM);
      const { message } = await rig.ready('Table', 'author', 'Deleting', TEAM);
      expect(message).toContain('select permission default/public/author/guest depends on it');
      await rig.engine().admin('pg_drop_select_permission', { table: 'author', role: 'guest' });
      await eventually(async () => expect(await isThere('author')).toBe(false));
      expect(await tracked()).toEqual([]);
    });

    test('a deleted resource stays while its deletion is held back, and is removed once the Engine confirms it', async () => {
      const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`;
      const patch = (change: object) => kube().request('PATCH', path, change, 'application/merge-patch+json');
      await patch({ spec: { policies: { holdBack: ['Breaking'] } } });
      const permissions = [{ role: 'guest', select: { columns: ['id'], filter: {} } }];
      await rig.kube.apply(table('author', { ...WAITS, permissions }));
      await ready('author');
      await rig.remove('Table', 'author', TEAM);
      const { message } = await rig.ready('Table', 'author', 'Deleting', TEAM);
      expect(message).toContain('it would break clients of role guest');
      expect(await tracked()).toEqual(['author']);
      const [, hash] = /confirm-change: ([0-9a-f]+)/.exec(message)!;
      await patch({ metadata: { annotations: { [CONFIRM_CHANGE_ANNOTATION]: hash } } });
      await eventually(async () => expect(await isThere('author')).toBe(false));
      expect(await tracked()).toEqual([]);
      await patch({ spec: { policies: null } });
    });

    test('a deleted resource is removed after the deadline, whatever objects remain', async () => {
      await restarted(['--progress-deadline-seconds', '2']);
      await rig.kube.apply(table('author', WAITS));
      await ready('author');
      await rig.stopEngine();
      await rig.remove('Table', 'author', TEAM);
      await eventually(async () => expect(await isThere('author')).toBe(false), 60);
      await rig.startEngine();
      await restarted([]);
      await eventually(async () => expect(await tracked()).toEqual([]));
    }, 120_000);

    test('resources are removed when the definition of their kind is deleted, and so is the definition', async () => {
      await rig.kube.apply(table('author', WAITS), table('book', WAITS));
      await ready('author');
      await ready('book');
      const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tables.pergola.dev';
      await kube().request('DELETE', definition);
      await eventually(async () => expect((await kube().request('GET', definition)).status).toBe(404), 60);
      await kube().kubectl(['apply', '--server-side', '-f', 'crds/generated/tables.yaml']);
      await kube().kubectl(['wait', '--for=condition=Established', 'crd/tables.pergola.dev']);
    }, 120_000);

    test('a deleted resource without its Engine is removed at once', async () => {
      await rig.kube.apply(table('author', WAITS));
      await ready('author');
      expect(await finalizers('author')).toEqual([FINALIZER]);
      await rig.stopEngine();
      await rig.remove('Engine', 'main', HOME);
      await rig.remove('Table', 'author', TEAM);
      await eventually(async () => expect(await isThere('author')).toBe(false));
    });
  });
});

type Exported = {
  readonly sources: readonly { readonly tables: readonly { readonly table: { readonly name: string } }[] }[];
};
