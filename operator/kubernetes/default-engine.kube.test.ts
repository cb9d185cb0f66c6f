/** Tests resources without `engineRef`, with a real API server and the real engine: the only Engine of the namespace, a second one, the
 *  annotation of a namespace, and what happens to the objects meanwhile. Each test continues from the state that the previous one left.
 *  Also a resource that begins to name another table.
 *  Not here: every case of the choice (default-engine.test.ts). */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

const SCHEMA = `
  create table author (id serial primary key, name text);
  create table book (id serial primary key, title text);
  insert into author (name) values ('Ann'); insert into book (title) values ('One')`;
const TEAM = 'team';

function cr(kind: string, name: string, spec: object, namespace = HOME): KubeObject {
  return { apiVersion: GROUP_VERSION, kind, metadata: { name, namespace }, spec };
}
const other = cr('Engine', 'other', { endpoint: { url: 'http://127.0.0.1:9' } });
const namespaceWith = (name: string, value: string | undefined) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    labels: { graphql: 'yes' },
    ...(value === undefined ? {} : { annotations: { 'pergola.dev/default-engine': value } }),
  },
});

await describeKube('resources without engineRef', (kube) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    await rig.startOperator();
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  const isServed = async (field: string) =>
    (await rig.engine().graphql(`{ ${field} { id } }`)).errors === undefined;

  test('belong to the only Engine of their namespace', async () => {
    await rig.kube.apply(cr('Table', 'author', { table: 'author' }));
    await rig.ready('Table', 'author', 'Applied');
    expect(await isServed('author')).toBe(true);
  });

  test('have no Engine once there are two, say so, and keep their objects', async () => {
    await rig.kube.apply(other);
    const { message } = await rig.ready('Table', 'author', 'DependencyNotReady');
    expect(message).toContain(
      `spec.engineRef is absent and the namespace ${HOME} has 2 Engines (main, other)`,
    );
    expect(message).toContain('the annotation pergola.dev/default-engine of the namespace');
    await touchEngine();
    expect(await isServed('author')).toBe(true);
  });

  test('belong to the Engine that the annotation of the namespace names', async () => {
    await rig.kube.apply(namespaceWith(HOME, 'main'));
    await rig.ready('Table', 'author', 'Applied');
    expect(await isServed('author')).toBe(true);
  });

  test('of another namespace belong to the Engine that its annotation names, if that admits them', async () => {
    await rig.kube.apply(
      namespaceWith(TEAM, undefined),
      cr(
        'TablePermission',
        'reader',
        { table: 'author', role: 'reader', select: { columns: ['id'], filter: {} } },
        TEAM,
      ),
    );
    const { message } = await rig.ready('TablePermission', 'reader', 'DependencyNotReady', TEAM);
    expect(message).toContain(`the namespace ${TEAM} has no Engine`);
    const asReader = () => rig.engine().graphql('{ author { id } }', { role: 'reader' });
    expect((await asReader()).errors).toBeDefined();
    await rig.kube.apply(namespaceWith(TEAM, `${HOME}/main`));
    await rig.ready('TablePermission', 'reader', 'Applied', TEAM);
    expect((await asReader()).errors).toBeUndefined();
    expect((await rig.engine().graphql('{ author { name } }', { role: 'reader' })).errors).toBeDefined();
  });

  test('a resource that names another table replaces the object, and an Event says so', async () => {
    await rig.remove('TablePermission', 'reader', TEAM);
    await rig.kube.apply(cr('Table', 'author', { table: 'book' }));
    const { message } = await rig.ready('Table', 'author', 'Applied');
    expect(message).toMatch(/replaces/);
    expect([await isServed('author'), await isServed('book')]).toEqual([false, true]);
  });

  test('a resource that names another Engine leaves the first one', async () => {
    await rig.kube.apply(cr('Table', 'author', { engineRef: { name: 'other' }, table: 'book' }));
    await rig.ready('Table', 'author', 'EngineUnreachable');
    await vi.waitFor(async () => expect(await isServed('book')).toBe(false), { timeout: 15_000 });
  });

  /** Makes the operator process the Engine, and waits until it has. */
  async function touchEngine(): Promise<void> {
    await rig.kube.kubectl(['annotate', '-n', HOME, 'engine.pergola.dev/main', `touched=${Date.now()}`]);
    await new Promise((resolve) => setTimeout(resolve, 2500));
  }
});
