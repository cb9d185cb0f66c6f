/** Tests hostile resources of one namespace that a real API server accepts, beside good ones of another: the operator keeps working, and
 *  each hostile resource reports its error. Not here: all hostile forms (end-to-end/noninterference.test.ts).
 *  Each test continues from the state that the previous one left. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

const GOOD = 'good';
const INTRUDER = 'intruder';
/** Slightly below the depth that the API server accepts. */
const LEVELS = 4500;

function cr(kind: string, name: string, spec: object, namespace = INTRUDER): KubeObject {
  const metadata = { name, namespace };
  return {
    apiVersion: GROUP_VERSION,
    kind,
    metadata,
    spec: { engineRef: { name: 'main', namespace: HOME }, ...spec },
  };
}

const on = (name: string) => ({ source: 'default', table: name });
const select = (columns: readonly string[]) => ({ select: { columns, filter: {} } });
const role = (name: string, roles: readonly string[], namespace = INTRUDER) =>
  cr('InheritedRole', name, { role: name, roles }, namespace);

await describeKube('hostile resources of another namespace', (kube) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await createRig(
      kube(),
      'create table author (id int primary key, name text); create table spare (id int)',
    );
    for (const name of [GOOD, INTRUDER]) {
      await rig.kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    const everything = {
      sources: ['*'],
      tables: ['*'],
      references: ['*'],
      names: ['*'],
      roles: ['*'],
      variables: ['*'],
      webhookHosts: ['*'],
    };
    const { spec } = await rig.get('Engine', 'main');
    await rig.kube.apply({
      apiVersion: GROUP_VERSION,
      kind: 'Engine',
      metadata: { name: 'main', namespace: HOME },
      spec: {
        ...spec,
        allowedNamespaces: { from: 'All' },
        grants: [
          { name: 'all', namespaces: [GOOD, INTRUDER], ...everything },
          { name: 'roles', namespaces: [GOOD, INTRUDER], kinds: ['InheritedRole'], roles: ['*'] },
        ],
      },
    });
    await rig.startOperator();
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  const good = [
    cr('Table', 'author', on('author'), GOOD),
    cr('TablePermission', 'reader', { ...on('author'), role: 'reader', ...select(['id']) }, GOOD),
    cr('TablePermission', 'auditor', { ...on('author'), role: 'auditor', ...select(['name']) }, GOOD),
    role('editor', ['reader', 'auditor'], GOOD),
  ];
  const allReady = async () => {
    for (const { kind, metadata } of good) await rig.ready(kind, metadata.name, 'Applied', GOOD);
  };

  test('good resources are Ready', async () => {
    for (const resource of good) await rig.kube.apply(resource);
    await allReady();
  }, 180_000);

  test('a newer role that forms a cycle with one of another namespace is rejected, and its message names the other', async () => {
    await rig.kube.apply(role('reader', ['editor']));
    await rig.kube.apply(role('selfish', ['selfish']));
    const told = await rig.ready('InheritedRole', 'reader', 'RejectedByEngine', INTRUDER);
    expect(told.message).toContain(`inherited role editor of InheritedRole ${GOOD}/editor`);
    await rig.ready('InheritedRole', 'selfish', 'RejectedByEngine', INTRUDER);
  }, 180_000);

  test('newer resources cannot take the names of good resources', async () => {
    const forms = [
      [
        cr('Table', 'spare', { ...on('spare'), configuration: { customName: 'author' } }),
        'RejectedByEngine',
        /author/,
      ],
      [
        cr('TablePermission', 'theirs', { ...on('author'), role: 'reader', ...select(['*']) }),
        'Conflict',
        /belongs to TablePermission good\/reader/,
      ],
      [cr('CustomTypes', 'clash', { sdl: 'type author { id: Int }' }), 'RejectedByEngine', /author/],
      [
        cr('Action', 'clash', {
          sdl: 'type Query { author: String }',
          handler: { value: 'http://nowhere.invalid/' },
        }),
        'RejectedByEngine',
        /author/,
      ],
    ] as const;
    for (const [resource] of forms) await rig.kube.apply(resource);
    for (const [{ kind, metadata }, reason, says] of forms) {
      expect((await rig.ready(kind, metadata.name, reason, INTRUDER)).message).toMatch(says);
    }
  }, 180_000);

  test('a resource nested as deeply as the API server accepts is read and rejected', async () => {
    const deep = cr('TablePermission', 'deep', {
      ...on('author'),
      role: 'deep',
      select: { columns: ['id'], filter: { nested: 'here' } },
    });
    const filter = `${'{"a":'.repeat(LEVELS)}{}${'}'.repeat(LEVELS)}`;
    const text = JSON.stringify(deep).replace('"here"', filter);
    const file = join(await mkdtemp(join(tmpdir(), 'pergola-hostile-')), 'deep.json');
    await writeFile(file, text);
    await rig.kube.kubectl(['create', '--validate=false', '-f', file]);
    const told = await rig.ready('TablePermission', 'deep', 'InvalidSpec', INTRUDER);
    expect(told.message).toContain('nested more than');
  }, 180_000);

  test('a status that is longer than its definition allows is cut and written', async () => {
    const roles = Array.from({ length: 500 }, (_, i) => `role-${i}-${'x'.repeat(100)}`);
    await rig.kube.apply(role('many', roles));
    await rig.ready('InheritedRole', 'many', 'DependencyNotReady', INTRUDER);
    expect((await rig.get('InheritedRole', 'many', INTRUDER)).status!.target).toHaveLength(1024);
  }, 180_000);

  test('changes of the good namespace are applied, and all its resources are Ready', async () => {
    await rig.kube.apply(
      cr('TablePermission', 'reader', { ...on('author'), role: 'reader', ...select(['id', 'name']) }, GOOD),
    );
    await allReady();
    const answer = await rig.engine().graphql('{ author { id name } }', { role: 'reader' });
    expect(answer.errors).toBeUndefined();
  }, 180_000);
});
