/** Tests Migration from the API server to the database: a new version of a ConfigMap runs, resources of the source wait for it, and a failure
 *  is repaired. Uses a real API server, the real engine, and the rights of the chart. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

await describeKube('migrations', (kube) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await createRig(kube(), 'select 1');
    await rig.startOperator();
  }, 90_000);
  afterAll(() => rig?.close(), 30_000);

  const object = (kind: string, name: string, spec: object): KubeObject => ({
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name, namespace: HOME },
    spec: { engineRef: { name: 'main' }, ...spec },
  });
  const configMap = (data: Readonly<Record<string, string>>): KubeObject =>
    ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'sql', namespace: HOME },
      data,
    }) as KubeObject;
  const ref = (key: string) => ({ configMapKeyRef: { name: 'sql', key } });
  const CREATE = { name: '1_shelf.sql', sql: 'create table shelf (id int primary key)' };
  const LATER = { name: '2_room.sql', ...ref('room') };
  const shelf = (role: string, columns: readonly string[]) =>
    object('TablePermission', `shelf-${role}`, { table: 'shelf', role, select: { columns, filter: {} } });

  test('a Table is Ready once its Migration has created the table', async () => {
    await rig.kube.apply(object('Table', 'shelf', { table: 'shelf' }));
    await rig.ready('Table', 'shelf', 'DependencyNotReady');
    await rig.kube.apply(object('Migration', 'schema', { files: [CREATE] }));
    expect((await rig.ready('Migration', 'schema', 'Applied')).message).toBe('The newest version is 1.');
    await rig.ready('Table', 'shelf', 'Applied');
  });

  test('a file of a ConfigMap that fails holds the resources back, and its correction runs', async () => {
    await rig.kube.apply(configMap({ room: 'alter table shelf add room text; select nope' }));
    await rig.kube.apply(object('Migration', 'schema', { files: [CREATE, LATER] }));
    const { message } = await rig.ready('Migration', 'schema', 'MigrationFailed');
    expect(message).toBe('2_room.sql:1: statement 2 of 2 failed: column "nope" does not exist (42703).');
    await rig.kube.apply(shelf('user', ['id', 'room']));
    expect((await rig.ready('TablePermission', 'shelf-user', 'DependencyNotReady')).message).toContain(
      'Waits for Migration',
    );
    await rig.kube.apply(configMap({ room: 'alter table shelf add room text' }));
    await rig.ready('Migration', 'schema', 'Applied');
    await rig.ready('TablePermission', 'shelf-user', 'Applied');
    expect((await rig.engine().graphql('{ shelf { id room } }', { role: 'user' })).data).toEqual({
      shelf: [],
    });
  });

  test('a key that is added to a ConfigMap runs', async () => {
    const all = { '1_shelf.sql': CREATE.sql, '2_room.sql': 'alter table shelf add room text' };
    await rig.kube.apply(configMap(all));
    await rig.kube.apply(object('Migration', 'schema', { configMapRef: { name: 'sql' } }));
    await rig.ready('Migration', 'schema', 'Applied');
    await rig.kube.apply(configMap({ ...all, '3_floor.sql': 'alter table shelf add floor int' }));
    await vi.waitFor(
      async () => {
        const { message } = await rig.ready('Migration', 'schema', 'Applied');
        expect(message).toBe('The newest version is 3.');
      },
      { timeout: 20_000, interval: 100 },
    );
  });

  test('the API server refuses a file without a version, and one without statements', async () => {
    const refused = (file: object) =>
      rig.kube.apply(object('Migration', 'wrong', { source: 'a', files: [file] }));
    await expect(refused({ name: 'first.sql', sql: 'select 1' })).rejects.toThrow('name');
    await expect(refused({ name: '1_a.sql' })).rejects.toThrow('exactly one of sql and configMapKeyRef');
  });
});
