/** Tests one resource because of which the engine rejects the whole change, beside good ones: the pass leaves out only that resource,
 *  with its own message, at little extra cost. Against the real engine: reconcile.engine.test.ts, noninterference.test.ts. */
import { type MetadataObject, objectsOf } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { reconcile } from '../pass/reconcile.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import { OPTIONS, resource, table } from '../testing/resources.ts';
import { inconsistent } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';

const role = (
  name: string,
  roles: readonly string[],
  given: { readonly namespace?: string; readonly day?: number } = {},
): CustomResource => {
  const { namespace = 'default', day = 1 } = given;
  const creationTimestamp = `2025-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  return resource('InheritedRole', name, { role: name, roles }, { namespace, creationTimestamp });
};

const keysOf = (ports: ScriptedPorts) => [...objectsOf(ports.engine.metadata).keys()];

/** Makes the engine reject the documents that the test selects, without naming an object. */
function refusing(ports: ScriptedPorts, isBad: (objects: ReadonlyMap<string, MetadataObject>) => boolean) {
  ports.engine.refusal = (objects) =>
    isBad(objects)
      ? new EngineProblem('rejected', 'http://engine answers 400: no', { reason: 'no' })
      : undefined;
}

test('a role that inherits from itself is left out, and other resources are applied', async () => {
  const ports = new ScriptedPorts();
  const [bad, good] = [role('bad', ['x', 'bad']), role('good', ['x'])];
  ports.resources = [bad, table('author'), good];
  const report = await reconcile(ports, OPTIONS);
  expect([bad, good].map((cr) => ports.readiness(cr))).toEqual(['False RejectedByEngine', 'True Applied']);
  expect(ports.message(bad)).toBe('Inherited role bad: found cycle(s) in roles: ["bad","bad"].');
  expect([report.problem, ports.engine.writes.length]).toEqual([undefined, 1]);
});

test('the newer of two roles that form a cycle across namespaces is left out, and its message names the older', async () => {
  const ports = new ScriptedPorts();
  const first = role('a', ['b'], { namespace: 'team-a', day: 3 });
  ports.resources = [first];
  await reconcile(ports, OPTIONS);
  const second = role('b', ['a'], { namespace: 'team-b', day: 2 });
  ports.resources = [first, second, table('author')];
  await reconcile(ports, OPTIONS);
  expect([first, second].map((cr) => ports.readiness(cr))).toEqual([
    'True Applied',
    'False RejectedByEngine',
  ]);
  expect(ports.message(second)).toContain('inherited role a of InheritedRole team-a/a');
  expect(keysOf(ports)).toContain('table/default/public/author');
});

test('a role whose change would form a cycle keeps its last good form', async () => {
  const ports = new ScriptedPorts();
  const [a, b] = [role('a', ['b']), role('b', ['x'])];
  ports.resources = [a, b];
  await reconcile(ports, OPTIONS);
  const worse = { ...role('b', ['a']), metadata: { ...b.metadata, generation: 2 } };
  ports.resources = [a, worse];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(worse)).toBe('False RejectedByEngine');
  expect(ports.message(worse)).toMatch(/serving generation 1\.$/);
  expect(ports.engine.metadata.inherited_roles).toEqual([
    { role_name: 'a', role_set: ['b'] },
    { role_name: 'b', role_set: ['x'] },
  ]);
});

test('a role left out because of a cycle is applied once the other role is deleted', async () => {
  const ports = new ScriptedPorts();
  const [a, b] = [role('a', ['b'], { day: 1 }), role('b', ['a'], { day: 2 })];
  ports.resources = [a, b];
  const { backoff } = await reconcile(ports, OPTIONS);
  expect(ports.readiness(b)).toBe('False RejectedByEngine');
  ports.resources = [b];
  await reconcile(ports, OPTIONS, { backoff });
  expect(ports.readiness(b)).toBe('True Applied');
});

test.each([
  ['select_permission/default/public/author/r', 'query_collection/x'],
  ['inherited_role/a', 'inherited_role/b'],
  ['table/default/public/author', 'table/default/public/book'],
])(
  'a bundle with the key %s and the definition of another object is rejected, and other resources are applied',
  async (key) => {
    const definitions: Record<string, object> = {
      'inherited_role/a': { role_name: 'b', role_set: ['c'] },
      'table/default/public/author': { table: { schema: 'public', name: 'book' } },
      'select_permission/default/public/author/r': { role: 's', permission: { columns: '*', filter: {} } },
    };
    const ports = new ScriptedPorts();
    const bundle = resource('MetadataBundle', 'bad', { objects: [{ key, definition: definitions[key]! }] });
    ports.resources = [bundle, table('other')];
    await reconcile(ports, OPTIONS);
    expect(ports.readiness(bundle)).toBe('False InvalidSpec');
    expect(ports.message(bundle)).toMatch(/the definition is that of .*, not of key /);
    expect(keysOf(ports)).toContain('table/default/public/other');
  },
);

test('the operator runs no search when the error of the engine names the edit', async () => {
  const ports = new ScriptedPorts();
  const key = 'table/default/public/bad';
  ports.engine.refusal = (objects) =>
    objects.has(key)
      ? new EngineProblem('rejected', 'no', { reason: 'no', edit: { key, path: 'configuration.x' } })
      : undefined;
  const tables = ['a', 'b', 'bad', 'c', 'd'].map((name) => table(name));
  ports.resources = tables;
  await reconcile(ports, OPTIONS);
  expect(tables.map((cr) => ports.readiness(cr))).toEqual([
    'True Applied',
    'True Applied',
    'False RejectedByEngine',
    'True Applied',
    'True Applied',
  ]);
  expect(ports.message(tables[2]!)).toBe('Table default/public/bad at configuration.x: no.');
  expect(ports.engine.admissions).toBeLessThanOrEqual(3);
});

test('the operator does not search for a rejected resource again until it changes or some time has passed', async () => {
  const ports = new ScriptedPorts();
  refusing(ports, (objects) => objects.has('table/default/public/bad'));
  ports.resources = [...Array.from({ length: 50 }, (_, i) => table(`t${i}`)), table('bad')];
  const first = await reconcile(ports, OPTIONS);
  const admissions = ports.engine.admissions;
  expect(admissions).toBeLessThan(20);
  ports.resources = [...ports.given.resources, table('another')];
  const second = await reconcile(ports, OPTIONS, { backoff: first.backoff });
  expect(ports.engine.admissions).toBe(admissions);
  expect(ports.readiness(table('bad'))).toBe('False RejectedByEngine');
  expect(keysOf(ports)).toContain('table/default/public/another');
  ports.time = new Date(ports.time.getTime() + 31_000);
  const third = await reconcile(ports, OPTIONS, { backoff: second.backoff });
  expect(ports.engine.admissions).toBeGreaterThan(admissions);
  ports.engine.refusal = () => undefined;
  ports.time = new Date(ports.time.getTime() + 31_000);
  const fourth = await reconcile(ports, OPTIONS, { backoff: third.backoff });
  expect(ports.readiness(table('bad'))).toBe('False RejectedByEngine');
  ports.time = new Date(ports.time.getTime() + 31_000);
  await reconcile(ports, OPTIONS, { backoff: fourth.backoff });
  expect(ports.readiness(table('bad'))).toBe('True Applied');
});

test('a resource that would break another one is searched for once, and tried again when that one changes or some time has passed', async () => {
  const ports = new ScriptedPorts();
  const [taken, taking] = [table('taken'), table('taking', { creationTimestamp: '2026-11-02T00:00:00Z' })];
  const key = 'table/default/public/taken';
  ports.engine.judge = (objects) =>
    objects.has(key) && objects.has('table/default/public/taking') ? [inconsistent(key, 'unexpected')] : [];
  ports.resources = [taken, taking];
  const first = await reconcile(ports, OPTIONS);
  expect([ports.readiness(taken), ports.readiness(taking)]).toEqual([
    'True Applied',
    'False RejectedByEngine',
  ]);
  const admissions = ports.engine.admissions;
  ports.resources = [taken, taking, table('another')];
  const second = await reconcile(ports, OPTIONS, { backoff: first.backoff });
  expect([ports.engine.admissions, keysOf(ports).includes('table/default/public/another')]).toEqual([
    admissions,
    true,
  ]);
  expect(ports.message(taking)).toContain('would break table default/public/taken');
  ports.time = new Date(ports.time.getTime() + 31_000);
  const third = await reconcile(ports, OPTIONS, { backoff: second.backoff });
  expect(ports.engine.admissions).toBeGreaterThan(admissions);
  ports.engine.judge = () => [];
  ports.resources = [taking, table('another')];
  await reconcile(ports, { ...OPTIONS, policies: { ...OPTIONS.policies } }, { backoff: third.backoff });
  expect(ports.readiness(taking)).toBe('True Applied');
});

test('a change that passes the dry run but not the write is written in parts, without the rejected resource', async () => {
  const ports = new ScriptedPorts();
  ports.engine.before = () => {};
  const { write } = ports.engine;
  ports.engine.write = async (change) => {
    if (change.edits.some(({ key }) => key.endsWith('/bad'))) {
      throw new EngineProblem('rejected', 'no trigger', { reason: 'no trigger' });
    }
    return write.call(ports.engine, change);
  };
  const tables = [...Array.from({ length: 20 }, (_, i) => table(`t${i}`)), table('bad')];
  ports.resources = tables;
  const report = await reconcile(ports, OPTIONS);
  expect(tables.filter((cr) => ports.readiness(cr) !== 'True Applied').map((cr) => cr.metadata.name)).toEqual(
    ['bad'],
  );
  expect(ports.message(table('bad'))).toBe('Table default/public/bad: no trigger.');
  expect([report.problem, report.isCut]).toEqual([undefined, false]);
});

test('a change too large for one request is written in parts', async () => {
  const ports = new ScriptedPorts();
  const { write } = ports.engine;
  ports.engine.write = async (change) => {
    if (change.edits.length > 10) throw new EngineProblem('tooLarge', 'too large');
    return write.call(ports.engine, change);
  };
  const tables = Array.from({ length: 100 }, (_, i) => table(`t${i}`));
  ports.resources = tables;
  await reconcile(ports, OPTIONS);
  expect(tables.map((cr) => ports.readiness(cr)).filter((text) => text !== 'True Applied')).toEqual([]);
});

test.each(['unreachable', 'unauthorized'] as const)(
  'the operator does not search for rejected resources while the engine is %s',
  async (kind) => {
    const ports = new ScriptedPorts();
    ports.engine.before = (request) => {
      if (request !== 'read') throw new EngineProblem(kind, 'the database is away');
    };
    ports.resources = Array.from({ length: 20 }, (_, i) => table(`t${i}`));
    const report = await reconcile(ports, OPTIONS);
    expect([report.problem?.kind, ports.engine.admissions, report.backoff.size]).toEqual([kind, 0, 0]);
  },
);

test('a pass ends even if the engine rejects every request as inconsistent', async () => {
  const ports = new ScriptedPorts();
  ports.engine.write = () => Promise.reject(new EngineProblem('inconsistent', 'internal error'));
  ports.engine.admit = () => Promise.reject(new EngineProblem('inconsistent', 'internal error'));
  ports.resources = [table('author')];
  const report = await reconcile(ports, OPTIONS);
  expect(report.problem?.kind).toBe('inconsistent');
});

test('a spec nested as deeply as an API server allows is rejected, and other resources are applied', async () => {
  let filter: Record<string, unknown> = { id: { _eq: 1 } };
  for (let level = 0; level < 5000; level++) filter = { _not: filter };
  const ports = new ScriptedPorts();
  const bad = resource('TablePermission', 'deep', {
    source: 'default',
    table: 'author',
    role: 'r',
    select: { columns: ['id'], filter },
  });
  ports.resources = [bad, table('author')];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(bad)).toBe('False InvalidSpec');
  expect(ports.readiness(table('author'))).toBe('True Applied');
});

test('an older object stays and the newer one that would break it is left out', async () => {
  const ports = new ScriptedPorts();
  ports.engine.judge = (objects) =>
    objects.has('table/default/public/new') && objects.has('table/default/public/old')
      ? [inconsistent('table/default/public/old', 'unexpected', 'conflicting definitions')]
      : [];
  const old = table('old', { creationTimestamp: '2025-01-01T00:00:00Z' });
  const fresh = table('new', { creationTimestamp: '2025-02-01T00:00:00Z' });
  ports.resources = [fresh, old];
  await reconcile(ports, OPTIONS);
  expect([old, fresh].map((cr) => ports.readiness(cr))).toEqual(['True Applied', 'False RejectedByEngine']);
  expect(ports.message(fresh)).toContain('would break table default/public/old of Table default/old');
});

test('a source is kept while resources of other namespaces have objects in it, even if another resource adopted it', async () => {
  const ports = new ScriptedPorts();
  const [source] = ports.engine.metadata.sources;
  const { tables: _, ...definition } = source!;
  const key = 'source/default';
  const bundle = (deletionPolicy?: string) =>
    resource(
      'MetadataBundle',
      'taker',
      { objects: [{ key, definition }], ...(deletionPolicy ? { deletionPolicy } : {}) },
      { namespace: 'intruder' },
    );
  for (const taker of [bundle(), bundle('Delete')]) {
    ports.resources = [table('author'), taker];
    await reconcile(ports, OPTIONS);
    expect(ports.readiness(taker)).toBe('True Applied');
    ports.resources = [table('author')];
    await reconcile(ports, OPTIONS);
    expect(keysOf(ports)).toEqual([key, 'table/default/public/author']);
    expect(ports.readiness(table('author'))).toBe('True Applied');
  }
});

test('a newer resource that claims the same key does not affect a resource with references', async () => {
  const ports = new ScriptedPorts();
  const source = (name: string, env: string, day: number) =>
    resource(
      'Source',
      name,
      { name: 'app', connection: { url: { env } } },
      { creationTimestamp: `2025-01-0${day}T00:00:00Z` },
    );
  const [good, rival] = [source('good', 'APP', 1), source('rival', 'OTHER', 2)];
  ports.resources = [good];
  const { passState } = await reconcile(ports, OPTIONS);
  ports.resources = [rival, good];
  await reconcile(ports, OPTIONS, { passState });
  expect([good, rival].map((cr) => ports.readiness(cr))).toEqual(['True Applied', 'False Conflict']);
});
