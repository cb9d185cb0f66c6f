/** Tests the policy holdBack with a real API server and the real engine: the old API is served until a person confirms the change by an
 *  annotation, and a confirmation stands for one change. Each test continues from the state that the previous one left.
 *  Not here: which resources are held back (pass/hold-back.test.ts). */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { CONFIRM_CHANGE_ANNOTATION } from '../decide/pending-change.ts';
import { GROUP_VERSION, kindOf } from '../kinds.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

const SCHEMA = `create table author (id int primary key, name text, born int);
  create table book (id int primary key);
  insert into author values (1, 'Ann', 1950)`;

function cr(kind: string, name: string, spec: object): KubeObject {
  const metadata = { name, namespace: HOME };
  return { apiVersion: GROUP_VERSION, kind, metadata, spec: { engineRef: { name: 'main' }, ...spec } };
}

const tracked = (name: string) => cr('Table', name, { source: 'default', table: name });
const reader = (columns: readonly string[], filter: object = {}) =>
  cr('TablePermission', 'reader', {
    source: 'default',
    table: 'author',
    role: 'reader',
    select: { columns, filter },
  });

await describeKube('changes that are held back', (kube) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    await patch('Engine', 'main', { spec: { policies: { holdBack: ['Breaking'] } } });
    await rig.startOperator();
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  const eventually = <T>(look: () => Promise<T> | T, seconds = 25) =>
    vi.waitFor(look, { timeout: seconds * 1000, interval: 50 });
  const patch = async (kind: string, name: string, change: object) => {
    const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/${kindOf(kind)!.plural}/${name}`;
    const { status } = await rig.kube.request('PATCH', path, change, 'application/merge-patch+json');
    expect(status).toBe(200);
  };
  const confirm = (kind: string, name: string, hash: string) =>
    patch(kind, name, { metadata: { annotations: { [CONFIRM_CHANGE_ANNOTATION]: hash } } });
  const isServed = async (field: string) => {
    const { data, errors } = await rig.engine().graphql(`{ author { ${field} } }`, { role: 'reader' });
    return errors === undefined && data !== undefined;
  };
  const held = async () => (await rig.get('Engine', 'main')).status?.heldBack ?? [];
  const hashIn = (message: string) => /confirm-change: ([0-9a-f]+)/.exec(message)![1]!;

  test('the old API serves the field while its removal is held back, and other resources go on', async () => {
    await rig.kube.apply(tracked('author'), reader(['id', 'name', 'born']));
    await rig.ready('TablePermission', 'reader', 'Applied');
    await rig.kube.apply(reader(['id', 'born']), tracked('book'));
    const { message, status } = await rig.ready('TablePermission', 'reader', 'ChangeHeldBack');
    expect(status).toBe('False');
    expect(message).toContain('it would break clients of role reader (Field author.name was removed');
    await rig.ready('Table', 'book', 'Applied');
    expect(await isServed('name')).toBe(true);
    await eventually(async () =>
      expect(await held()).toMatchObject([
        { resource: `TablePermission ${HOME}/reader`, hash: hashIn(message) },
      ]),
    );
    await rig.ready('Engine', 'main', 'Applied');
  });

  test('the annotation with the hash applies the change', async () => {
    const [{ hash } = { hash: '' }] = await held();
    await confirm('TablePermission', 'reader', 'true');
    await rig.kube.apply(tracked('book'));
    await rig.ready('TablePermission', 'reader', 'ChangeHeldBack');
    expect(await isServed('name')).toBe(true);
    await confirm('TablePermission', 'reader', hash);
    await rig.ready('TablePermission', 'reader', 'Applied');
    expect(await isServed('name')).toBe(false);
    expect(await isServed('born')).toBe(true);
    await eventually(async () => expect(await held()).toEqual([]));
  });

  test('a later change is held back, although the annotation of the earlier one is still there', async () => {
    await rig.kube.apply(reader(['id']));
    const { message } = await rig.ready('TablePermission', 'reader', 'ChangeHeldBack');
    expect(message).toContain('Field author.born was removed');
    expect(await isServed('born')).toBe(true);
    const { metadata } = await rig.get('TablePermission', 'reader');
    expect(metadata.annotations?.[CONFIRM_CHANGE_ANNOTATION]).not.toBe(hashIn(message));
    await rig.kube.apply(reader(['id', 'born']));
    await rig.ready('TablePermission', 'reader', 'Applied');
  });

  test('a change that reaches more rows is held back with Widened, together with what breaks', async () => {
    await patch('Engine', 'main', { spec: { policies: { holdBack: ['Breaking', 'Widened'] } } });
    const rows = async () => {
      const { data } = await rig
        .engine()
        .graphql<{ author: unknown[] }>('{ author { id } }', { role: 'reader' });
      return data?.author.length;
    };
    await rig.kube.apply(reader(['id', 'born'], { id: { _gt: 1 } }));
    await rig.ready('TablePermission', 'reader', 'Applied');
    expect(await rows()).toBe(0);
    await rig.kube.apply(reader(['id']));
    const { message } = await rig.ready('TablePermission', 'reader', 'ChangeHeldBack');
    expect(message).toContain(
      'would let role reader reach more rows of public.author: filter: id is more than 1',
    );
    expect(message).toContain('and it would break clients of role reader (Field author.born was removed');
    expect(await rows()).toBe(0);
    await rig.kube.apply(reader(['id', 'born']));
    const wider = await rig.ready('TablePermission', 'reader', 'ChangeHeldBack');
    expect(wider.message).toContain('all rows; set the annotation');
    await confirm('TablePermission', 'reader', hashIn(wider.message));
    await rig.ready('TablePermission', 'reader', 'Applied');
    expect(await rows()).toBe(1);
    await eventually(async () => expect(await held()).toEqual([]));
  });

  test('a deletion is held back until the annotation of the Engine confirms it', async () => {
    await rig.remove('TablePermission', 'reader');
    const { message } = await rig.ready('Engine', 'main', 'ChangeHeldBack');
    expect(message).toContain(`TablePermission ${HOME}/reader is deleted: the change is held back`);
    expect(await isServed('born')).toBe(true);
    await confirm('Engine', 'main', hashIn(message));
    await rig.ready('Engine', 'main', 'Applied');
    expect(await isServed('id')).toBe(false);
  });
});
