/** Tests when a pass stores the manifests of resources, with a scripted engine. */
import { expect, test } from 'vitest';
import { OPTIONS, permission, snapshotOf, table } from '../testing/resources.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { reconcile } from './reconcile.ts';

const storedIn = ({ engine }: ScriptedPorts) =>
  (engine.operatorState as { readonly manifests?: Readonly<Record<string, { readonly manifest: string }>> })
    .manifests ?? {};
const patches = ({ engine }: ScriptedPorts) =>
  engine.writes.map(({ ledger: { manifests = {} } }) => Object.keys(manifests));

test('manifests are stored in the write that applies their resources, only what changed, and removed with them', async () => {
  const ports = new ScriptedPorts();
  const [author, book] = [table('author'), table('book')];
  ports.resources = [author, book];
  let before = await reconcile(ports, OPTIONS);
  expect(patches(ports)).toEqual([['Table default/author', 'Table default/book']]);
  expect(JSON.parse(storedIn(ports)['Table default/book']!.manifest)).toEqual({
    ...{ apiVersion: 'pergola.dev/v1alpha1', kind: 'Table' },
    metadata: { name: 'book', namespace: 'default' },
    spec: book.spec,
  });
  before = await reconcile(ports, OPTIONS, before);
  before = await reconcile(ports, OPTIONS, before);
  await reconcile(ports, OPTIONS);
  expect(patches(ports)).toHaveLength(1);
  const configuration = { customName: 'Book' };
  const edited = {
    ...book,
    metadata: { ...book.metadata, generation: 2 },
    spec: { ...book.spec, configuration },
  };
  ports.resources = [author, edited];
  before = await reconcile(ports, OPTIONS, before);
  expect(patches(ports).slice(1)).toEqual([['Table default/book']]);
  ports.resources = [author];
  await reconcile(ports, OPTIONS, before);
  await reconcile(ports, OPTIONS);
  expect(Object.keys(storedIn(ports))).toEqual(['Table default/author']);
  expect(patches(ports).slice(2)).toEqual([['Table default/book']]);
});

test('manifests are filled in once after an operator that stored none', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  const { manifests: _, ...older } = ports.engine.operatorState as { readonly manifests: object };
  ports.engine.operatorState = older;
  for (const __ of [1, 2]) expect((await reconcile(ports, OPTIONS)).wasWritten).toBe(false);
  expect(Object.keys(storedIn(ports))).toEqual(['Table default/author']);
  expect(ports.engine.writes.map(({ edits }) => edits.length)).toEqual([1, 0]);
});

test('manifests are stored in several writes when they are many', async () => {
  const ports = new ScriptedPorts();
  const comment = 'x'.repeat(15_000);
  const roles = Array.from({ length: 60 }, (_, i) => `r${i}`);
  ports.resources = [
    table('author'),
    ...roles.map((role) => permission(role, 'author', role, ['id'], { spec: { comment } })),
  ];
  const report = await reconcile(ports, OPTIONS);
  expect(Object.keys(storedIn(ports))).toHaveLength(61);
  expect(patches(ports).map((names) => names.length)).toEqual([33, 28]);
  expect(report.resourceVersion).toBe(ports.engine.resourceVersion);
});

test('manifests stay while the resources cannot all be seen', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  ports.given = { ...snapshotOf([]), isComplete: false };
  await reconcile(ports, OPTIONS);
  expect(Object.keys(storedIn(ports))).toEqual(['Table default/author']);
});

test('manifests are not stored for resources that the Engine does not admit', async () => {
  const ports = new ScriptedPorts();
  const consent = {
    ...{ home: 'shop', fingerprint: 'f', isCertain: true },
    refusalOf: (namespace: string) => (namespace === 'shop' ? undefined : 'it is not admitted'),
    reservesFor: () => true,
    objectionTo: () => undefined,
  };
  const resources = [table('author', { namespace: 'shop' }), table('book', { namespace: 'stranger' })];
  ports.given = { ...snapshotOf(resources), consent };
  await reconcile(ports, OPTIONS);
  expect(Object.keys(storedIn(ports))).toEqual(['Table shop/author']);
});
