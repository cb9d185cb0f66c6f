/** Tests the whole pass with a scripted engine: order, coexistence, faults. Not here: single steps, which have their own tests. */

import { objectsOf } from '@pergola/engine/metadata';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CrStatus } from '../kinds.ts';
import { valueName } from '../objects/value-name.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { StatusChange } from '../ports/statuses.ts';
import { OPTIONS, permission, resource, snapshotOf, table } from '../testing/resources.ts';
import { broken, inconsistent, ScriptedEngine } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { reconcile } from './reconcile.ts';

const keys = (ports: ScriptedPorts) => [...objectsOf(ports.engine.metadata).keys()];
const SELECT = 'select_permission/default/public/author/reader';

/** The writes that change the document. Others store only why resources are not served. */
const edited = ({ engine }: ScriptedPorts) => engine.writes.filter(({ edits }) => edits.length > 0);

test('one write applies everything, and a second pass writes nothing', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [permission('p', 'author', 'reader'), table('author')];
  const report = await reconcile(ports, OPTIONS);
  expect(keys(ports)).toEqual(['source/default', 'table/default/public/author', SELECT]);
  expect(ports.engine.writes).toHaveLength(1);
  expect(report.wasWritten).toBe(true);
  expect(ports.published.map(({ status }) => status.conditions[0]?.reason)).toEqual(['Applied', 'Applied']);
  const again = await reconcile(ports, OPTIONS);
  expect(again.wasWritten).toBe(false);
  expect(ports.engine.writes).toHaveLength(1);
  // The engine validates a write, so that a dry run before it would be redundant.
  expect(ports.engine.admissions).toBe(0);
  expect(ports.published).toEqual([]);
});

test('the status of a Table says how it is distributed over a cluster, also while the engine does not answer', async () => {
  const ports = new ScriptedPorts();
  const key = 'table/default/public/author';
  ports.engine.distributions = new Map([[key, 'distributed by id (colocation 2)']]);
  ports.resources = [permission('p', 'author', 'reader'), table('author')];
  const statuses = async () => [...(await reconcile(ports, OPTIONS)).statuses.values()];
  const distributions = (all: readonly CrStatus[]) => all.map(({ distribution }) => distribution);
  expect(distributions(await statuses())).toEqual([undefined, 'distributed by id (colocation 2)']);
  ports.engine.before = () => {
    throw new EngineProblem('unreachable', 'it does not answer');
  };
  expect(distributions(await statuses())).toEqual([undefined, 'distributed by id (colocation 2)']);
  ports.engine.before = () => {};
  ports.engine.distributions = new Map([[key, 'a reference table']]);
  expect(distributions(await statuses())).toEqual([undefined, 'a reference table']);
  ports.engine.distributions = new Map();
  expect(distributions(await statuses())).toEqual([undefined, undefined]);
});

test('an object created by hand is never changed', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  const byHand = { role: 'guest', permission: { columns: ['id'], filter: {} } };
  ports.engine.put({
    key: 'select_permission/default/public/author/guest',
    kind: 'select_permission',
    parent: 'table/default/public/author',
    definition: byHand,
  });
  ports.resources = [table('author', { spec: { configuration: { customName: 'Writer' } }, generation: 2 })];
  await reconcile(ports, OPTIONS);
  const author = ports.engine.metadata.sources[0]?.tables[0];
  expect(author?.select_permissions).toEqual([byHand]);
  expect(author?.configuration).toEqual({ custom_name: 'Writer' });
});

test('drift on an owned object is corrected', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author'), permission('p', 'author', 'reader', ['id'])];
  await reconcile(ports, OPTIONS);
  ports.engine.put({
    key: SELECT,
    kind: 'select_permission',
    parent: 'table/default/public/author',
    definition: { role: 'reader', permission: { columns: '*', filter: {} } },
  });
  await reconcile(ports, OPTIONS);
  expect(ports.engine.metadata.sources[0]?.tables[0]?.select_permissions).toEqual([
    { role: 'reader', permission: { columns: ['id'], filter: {} } },
  ]);
  expect(ports.published.map(({ cr, corrected }) => [cr.metadata.name, corrected])).toEqual([
    [
      'p',
      expect.stringMatching(
        /^Restored: select permission default\/public\/author\/reader was changed: .*columns/,
      ),
    ],
  ]);
  await reconcile(ports, OPTIONS);
  expect(ports.published).toEqual([]);
});

test('drift is reported and kept with the policy Report', async () => {
  const ports = new ScriptedPorts();
  const p = permission('p', 'author', 'reader', ['id'], { spec: { driftPolicy: 'Report' } });
  ports.resources = [table('author'), p];
  await reconcile(ports, OPTIONS);
  ports.engine.put({
    key: SELECT,
    kind: 'select_permission',
    parent: 'table/default/public/author',
    definition: { role: 'reader', permission: { columns: ['id', 'name'], filter: {} } },
  });
  await reconcile(ports, OPTIONS);
  expect(ports.engine.writes).toHaveLength(1);
  expect(ports.readiness(p)).toBe('True Applied');
  const drifted = ports.status(p)?.conditions.find(({ type }) => type === 'Drifted');
  expect(drifted?.message).toContain('permission.columns[]: + "name"');
});

test('a broken resource keeps its last good version and does not block others', async () => {
  const ports = new ScriptedPorts();
  const good = permission('good', 'author', 'reader', ['id']);
  const bad = permission('bad', 'author', 'editor', ['id']);
  ports.resources = [table('author'), good, bad];
  await reconcile(ports, OPTIONS);
  const editor = 'select_permission/default/public/author/editor';
  ports.engine.judge = (objects) =>
    JSON.stringify(objects.get(editor)?.definition).includes('nonsense') ? [inconsistent(editor)] : [];
  const worse = permission('bad', 'author', 'editor', ['nonsense'], { generation: 2 });
  const better = permission('good', 'author', 'reader', ['id', 'name'], { generation: 2 });
  ports.resources = [table('author'), better, worse];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(better)).toBe('True Applied');
  expect(ports.readiness(worse)).toBe('False RejectedByEngine');
  expect(ports.message(worse)).toMatch(/broken .*; serving generation 1\.$/);
  const permissions = ports.engine.metadata.sources[0]?.tables[0]?.select_permissions;
  expect(permissions?.map(({ role, permission: rule }) => [role, rule.columns])).toEqual([
    ['editor', ['id']],
    ['reader', ['id', 'name']],
  ]);
});

test('a refused generation names the last one that was accepted, also when that changed nothing', async () => {
  const editor = 'select_permission/default/public/author/editor';
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('id', 'name', 'nonsense', 'invalid'), { minLength: 1, maxLength: 8 }),
      async (columns) => {
        const ports = new ScriptedPorts();
        ports.engine.judge = (objects) =>
          JSON.stringify(objects.get(editor) ?? {}).includes('nonsense') ? [inconsistent(editor)] : [];
        let served: number | undefined;
        for (const [i, column] of columns.entries()) {
          const generation = i + 1;
          const spec = column === 'invalid' ? { spec: { select: { colums: [] } } } : {};
          const cr = permission('p', 'author', 'editor', [column], { ...spec, generation });
          ports.resources = [table('author'), cr];
          const isRefused = column === 'nonsense' || column === 'invalid';
          if (!isRefused) served = generation;
          // Twice: the second pass must say the same.
          for (const _ of [1, 2]) {
            await reconcile(ports, OPTIONS);
            const [, said] = /serving generation (\d+)/.exec(ports.message(cr) ?? '') ?? [];
            expect(said).toBe(isRefused ? served?.toString() : undefined);
          }
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('a resource with an invalid spec keeps its objects and reports the invalid field', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author'), permission('p', 'author', 'reader')];
  await reconcile(ports, OPTIONS);
  const invalid = permission('p', 'author', 'reader', ['id'], {
    spec: { select: { colums: [] } },
    generation: 2,
  });
  ports.resources = [table('author'), invalid];
  await reconcile(ports, OPTIONS);
  expect(keys(ports)).toContain(SELECT);
  expect(ports.readiness(invalid)).toBe('False InvalidSpec');
  expect(ports.message(invalid)).toContain(
    'spec.select.colums is not a field; the nearest name is "columns"',
  );
  expect(ports.message(invalid)).toContain('serving generation 1');
});

test('only the objects of a deleted resource are deleted', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author'), table('book'), permission('p', 'author', 'reader')];
  await reconcile(ports, OPTIONS);
  ports.resources = [table('author'), table('book')];
  await reconcile(ports, OPTIONS);
  expect(keys(ports)).toEqual(['source/default', 'table/default/public/author', 'table/default/public/book']);
  expect(Object.keys(ports.engine.ledger.objects)).toEqual([
    'table/default/public/author',
    'table/default/public/book',
  ]);
});

test('a resource that names another table replaces the object in one write, and says so', async () => {
  const ports = new ScriptedPorts();
  const other = permission('p', 'other', 'reader');
  ports.resources = [table('author'), permission('q', 'author', 'reader'), table('other'), other];
  await reconcile(ports, OPTIONS);
  const renamed = table('author', { spec: { table: 'writer' }, generation: 2 });
  const moved = permission('q', 'writer', 'reader', ['id'], { generation: 2 });
  ports.resources = [renamed, moved, table('other'), other];
  await reconcile(ports, OPTIONS);
  expect(ports.engine.writes).toHaveLength(2);
  expect(keys(ports)).toEqual([
    'source/default',
    'table/default/public/other',
    'select_permission/default/public/other/reader',
    'table/default/public/writer',
    'select_permission/default/public/writer/reader',
  ]);
  expect(ports.message(renamed)).toBe('1 object applied; replaces table default/public/author.');
  expect(ports.message(moved)).toBe(
    '1 object applied; replaces select permission default/public/author/reader.',
  );
  expect(ports.message(other)).toBe('1 object applied.');
  expect(ports.status(renamed)?.replaced).toEqual(['table/default/public/author']);
  expect(ports.status(renamed)?.target).toBe('default/public.writer');
  // The message stays until the next generation, so that no status is written for its end.
  await reconcile(ports, OPTIONS);
  expect(ports.published).toEqual([]);
  ports.resources = [table('author', { spec: { table: 'writer', isEnum: true }, generation: 3 }), moved];
  await reconcile(ports, OPTIONS);
  expect(ports.message(renamed)).toBe('1 object applied.');
});

test('messages name the page of the console, and a second pass writes no status', async () => {
  const ports = new ScriptedPorts();
  const options = { ...OPTIONS, consoleUrl: 'https://api.test/console' };
  const lost = table('author', { spec: { table: 'nowhere' } });
  const book = table('book');
  const role = permission('p', 'book', 'reader');
  ports.resources = [book, role, lost];
  ports.engine.judge = broken('table/default/public/nowhere');
  await reconcile(ports, options);
  expect(ports.message(book)).toBe(
    '1 object applied; see https://api.test/console/model/table/default/public/book.',
  );
  expect(ports.message(role)).toBe(
    '1 object applied; see https://api.test/console/model/select_permission/default/public/book/reader.',
  );
  expect(ports.message(lost)).toMatch(
    /; see https:\/\/api\.test\/console\/ownership\?find=Table\+default%2Fauthor\.$/,
  );
  await reconcile(ports, options);
  expect(ports.published).toEqual([]);
  await reconcile(ports, OPTIONS);
  expect(ports.message(book)).toBe('1 object applied.');
});

test('the Event about drift that was undone names the page of the object', async () => {
  const ports = new ScriptedPorts();
  const options = { ...OPTIONS, consoleUrl: 'https://api.test/console' };
  ports.resources = [table('author')];
  await reconcile(ports, options);
  const [source] = ports.engine.metadata.sources;
  const tables = source!.tables.map((one) => ({ ...one, is_enum: true }));
  ports.engine.metadata = { ...ports.engine.metadata, sources: [{ ...source!, tables }] };
  ports.engine.resourceVersion++;
  const corrected: (string | undefined)[] = [];
  const sink = {
    publish: async (changes: readonly StatusChange[]) => {
      corrected.push(...changes.map((change) => change.corrected));
      return 0;
    },
  };
  const { source: resources, clock, engine } = ports;
  await reconcile({ engine, source: resources, clock, sink }, options);
  expect(corrected).toEqual([
    expect.stringMatching(
      /^Restored: .*; see https:\/\/api\.test\/console\/model\/table\/default\/public\/author\.$/,
    ),
  ]);
});

test('an object is kept with its nested objects while the engine refuses its replacement', async () => {
  const ports = new ScriptedPorts();
  const withRole = { permissions: [{ role: 'reader', select: { columns: ['id'], filter: {} } }] };
  ports.resources = [table('author', { spec: withRole }), table('book')];
  await reconcile(ports, OPTIONS);
  ports.engine.judge = broken('table/default/public/nowhere');
  const lost = table('author', { spec: { ...withRole, table: 'nowhere' }, generation: 2 });
  ports.resources = [lost, table('book')];
  await reconcile(ports, OPTIONS);
  expect(keys(ports)).toEqual([
    'source/default',
    'table/default/public/author',
    SELECT,
    'table/default/public/book',
  ]);
  expect(ports.readiness(lost)).toBe('False RejectedByEngine');
  expect(ports.message(lost)).toContain(
    'table default/public/author is kept until its replacement is created',
  );
  expect(ports.message(lost)).toContain('serving generation 1');
  ports.engine.judge = broken();
  await reconcile(ports, OPTIONS);
  expect(keys(ports)).not.toContain('table/default/public/author');
  expect(ports.message(lost)).toContain('replaces table default/public/author.');
});

test('an object is kept while its replacement belongs to no resource and may not be adopted', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  ports.engine.put({
    key: 'table/default/public/writer',
    kind: 'table',
    parent: 'source/default',
    definition: { table: { schema: 'public', name: 'writer' }, configuration: { custom_name: 'Writer' } },
  });
  const renamed = table('author', { spec: { table: 'writer' }, generation: 2 });
  ports.resources = [renamed];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(renamed)).toBe('False AdoptionRequired');
  expect(keys(ports)).toContain('table/default/public/author');
});

test('a retained object of a deleted resource is kept without an owner', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author', { spec: { deletionPolicy: 'Retain' } })];
  await reconcile(ports, OPTIONS);
  ports.resources = [];
  await reconcile(ports, OPTIONS);
  expect(keys(ports)).toContain('table/default/public/author');
  expect(ports.engine.ledger.objects).toEqual({});
});

test('a table is not untracked while objects without an owner depend on it', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  ports.engine.put({
    key: SELECT,
    kind: 'select_permission',
    parent: 'table/default/public/author',
    definition: { role: 'reader', permission: { columns: ['id'], filter: {} } },
  });
  ports.resources = [];
  const report = await reconcile(ports, OPTIONS);
  expect(keys(ports)).toContain(SELECT);
  expect([...report.plan!.settled.excluded.values()].map(({ reason }) => reason)).toEqual(['PruneHeld']);
  expect(Object.keys(ports.engine.ledger.objects)).toEqual(['table/default/public/author']);
});

test('a permission waits for its table and is written together with it', async () => {
  const ports = new ScriptedPorts();
  const p = permission('p', 'author', 'reader');
  ports.resources = [p];
  const report = await reconcile(ports, OPTIONS);
  expect(ports.readiness(p)).toBe('False DependencyNotReady');
  expect(ports.message(p)).toContain('waits for table default/public/author');
  expect(report.isWaiting).toBe(true);
  expect(ports.status(p)?.conditions.map(({ type }) => type)).toEqual(['Ready', 'Reconciling']);
  ports.resources = [p, table('author')];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(p)).toBe('True Applied');
});

test('a resource that waits past the deadline is stalled', async () => {
  const ports = new ScriptedPorts();
  const p = permission('p', 'author', 'reader');
  ports.resources = [p];
  await reconcile(ports, OPTIONS);
  ports.time = new Date(ports.time.getTime() + 299_000);
  await reconcile(ports, OPTIONS);
  expect(ports.status(p)?.conditions.map(({ type }) => type)).toEqual(['Ready', 'Reconciling']);
  ports.time = new Date(ports.time.getTime() + 2000);
  await reconcile(ports, OPTIONS);
  expect(ports.status(p)?.conditions.map(({ type }) => type)).toEqual(['Ready', 'Stalled']);
});

test('a resource that waits for a misspelt table names the nearest table, of the same source only', async () => {
  const ports = new ScriptedPorts();
  const misspelt = permission('p', 'autor', 'reader');
  ports.resources = [table('author'), table('books'), misspelt];
  await reconcile(ports, OPTIONS);
  expect(ports.message(misspelt)).toContain('waits for table default/public/autor');
  expect(ports.message(misspelt)).toMatch(/correct the name; the nearest name is "author"\.$/);
});

test('the older of two resources owns the object, and the newer one names the owner', async () => {
  const ports = new ScriptedPorts();
  const younger = permission('a', 'author', 'reader', ['id'], { creationTimestamp: '2025-02-01T00:00:00Z' });
  const older = permission('b', 'author', 'reader', ['name']);
  ports.resources = [table('author'), younger, older];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(older)).toBe('True Applied');
  expect(ports.readiness(younger)).toBe('False Conflict');
  expect(ports.message(younger)).toContain(`belongs to TablePermission default/b`);
  expect(ports.message(younger)).toContain(SELECT);
  ports.resources = [table('author'), younger];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(younger)).toBe('True Applied');
});

test('an owner keeps its object when an older resource claims it later', async () => {
  const ports = new ScriptedPorts();
  const first = permission('a', 'author', 'reader', ['id'], { creationTimestamp: '2025-02-01T00:00:00Z' });
  ports.resources = [table('author'), first];
  await reconcile(ports, OPTIONS);
  const older = permission('b', 'author', 'reader', ['name']);
  ports.resources = [table('author'), first, older];
  await reconcile(ports, OPTIONS);
  expect([ports.readiness(first), ports.readiness(older)]).toEqual(['True Applied', 'False Conflict']);
  expect(edited(ports)).toHaveLength(1);
});

test('objects of another manager are neither adopted nor deleted', async () => {
  const engine = new ScriptedEngine();
  const theirs = new ScriptedPorts(engine);
  theirs.resources = [table('author')];
  await reconcile(theirs, { ...OPTIONS, manager: 'theirs' });
  const ours = new ScriptedPorts(engine);
  const named = table('author', { spec: { configuration: { customName: 'Writer' } } });
  const rival = { ...named, metadata: { ...named.metadata, uid: 'of-another-cluster' } };
  const own = table('book');
  ours.resources = [rival, own];
  await reconcile(ours, OPTIONS);
  expect([ours.readiness(rival), ours.readiness(own)]).toEqual(['False Conflict', 'True Applied']);
  expect(ours.message(rival)).toContain('of another operator, which calls itself theirs');
  ours.resources = [named, own];
  await reconcile(ours, OPTIONS);
  expect(ours.readiness(named)).toBe('False AnotherOperator');
  expect(ours.message(named)).toContain('which calls itself theirs');
  ours.resources = [];
  await reconcile(ours, OPTIONS);
  expect(keys(ours)).toEqual(['source/default', 'table/default/public/author']);
  await reconcile(theirs, { ...OPTIONS, manager: 'theirs' });
  expect(theirs.engine.writes.filter(({ ledger }) => ledger.manager === 'theirs')).toHaveLength(1);
});

test('an existing object that differs is adopted only with the adopt annotation', async () => {
  const ports = new ScriptedPorts();
  ports.engine.put({
    key: 'table/default/public/author',
    kind: 'table',
    parent: 'source/default',
    definition: { table: { schema: 'public', name: 'author' }, configuration: { custom_name: 'Writer' } },
  });
  const cr = table('author');
  ports.resources = [cr];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(cr)).toBe('False AdoptionRequired');
  expect(ports.message(cr)).toContain('configuration.custom_name: - "Writer"');
  expect(edited(ports)).toHaveLength(0);
  const adopting = table('author', { annotations: { 'pergola.dev/adopt': 'true' } });
  ports.resources = [adopting];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(adopting)).toBe('True Applied');
  expect(ports.engine.metadata.sources[0]?.tables[0]?.configuration).toBeUndefined();
});

test('an existing equal object is adopted without changing the document', async () => {
  const ports = new ScriptedPorts();
  ports.engine.put({
    key: 'table/default/public/author',
    kind: 'table',
    parent: 'source/default',
    definition: { table: { schema: 'public', name: 'author' } },
  });
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  expect(ports.engine.writes.map(({ edits }) => edits)).toEqual([[]]);
  expect(Object.keys(ports.engine.ledger.objects)).toEqual(['table/default/public/author']);
});

test('a suspended resource leaves its objects as they are', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  const suspended = table('author', { spec: { suspend: true, configuration: { customName: 'Writer' } } });
  ports.resources = [suspended];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(suspended)).toBe('Unknown Paused');
  expect(edited(ports)).toHaveLength(1);
});

test('an object that no resource owns is not adopted, and the message says which policy and what to set', async () => {
  const ports = new ScriptedPorts();
  const byHand = table('author', { spec: { configuration: { customName: 'Theirs' } } });
  ports.resources = [byHand];
  await reconcile(ports, { ...OPTIONS, manager: 'by hand' });
  ports.engine.operatorState = { manager: 'test', objects: {} };
  const messageWith = async (spec: Readonly<Record<string, unknown>>) => {
    const cr = table('author', { spec });
    ports.resources = [cr];
    await reconcile(ports, OPTIONS);
    expect(ports.readiness(cr)).toBe('False AdoptionRequired');
    return ports.message(cr).split('; ').slice(1).join('; ');
  };
  const equal = byHand.spec;
  expect(await messageWith({ adoptionPolicy: 'IfEqual' })).toMatch(
    /^it differs, and adoptionPolicy is IfEqual: .*"Theirs"; set adoptionPolicy: Always to overwrite it, or change the resource until both are equal\.$/,
  );
  expect(await messageWith({ adoptionPolicy: 'Never' })).toMatch(
    /^it differs, and adoptionPolicy is Never: .* until both are equal and set adoptionPolicy: IfEqual\.$/,
  );
  expect(await messageWith({ ...equal, adoptionPolicy: 'Never' })).toBe(
    'it is equal, and adoptionPolicy is Never; set adoptionPolicy: IfEqual to take it over.',
  );
});

test('while some resources cannot be read, nothing is deleted and no object changes its owner', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author'), permission('p', 'author', 'reader')];
  await reconcile(ports, OPTIONS);
  const usurper = permission('q', 'author', 'reader', ['name']);
  ports.given = snapshotOf([table('author'), usurper], { isComplete: false });
  await reconcile(ports, OPTIONS);
  expect(edited(ports)).toHaveLength(1);
  expect(ports.readiness(usurper)).toBe('False Conflict');
});

test('objects of a namespace that cannot be read are kept while others are deleted', async () => {
  const ports = new ScriptedPorts();
  const elsewhere = permission('p', 'author', 'reader', ['id'], { namespace: 'team' });
  ports.resources = [table('author'), table('book'), elsewhere];
  await reconcile(ports, OPTIONS);
  ports.given = snapshotOf([table('author')], { seesNamespace: (namespace) => namespace === 'default' });
  await reconcile(ports, OPTIONS);
  const selectKey = 'select_permission/default/public/author/reader';
  expect(keys(ports)).toEqual(['source/default', 'table/default/public/author', selectKey]);
});

test('mass deletions wait until they are confirmed', async () => {
  const ports = new ScriptedPorts();
  ports.resources = Array.from({ length: 30 }, (_, i) => table(`t${i}`));
  await reconcile(ports, OPTIONS);
  ports.resources = [table('t0')];
  const report = await reconcile(ports, OPTIONS);
  expect(report.plan?.pruneHold).toMatchObject({ count: 29, owned: 30 });
  await reconcile(ports, { ...OPTIONS, confirmPrune: 'something else' });
  // The second write records the hold in the ledger.
  expect(ports.engine.writes.slice(1).map(({ edits }) => edits)).toEqual([[]]);
  await reconcile(ports, { ...OPTIONS, confirmPrune: report.plan!.pruneHold!.hash });
  expect(keys(ports)).toEqual(['source/default', 'table/default/public/t0']);
});

test.each([
  ['is lost', (names: ReadonlySet<string>) => names, { shown: 'PruneHeld', isCut: false }],
  ['is not read', () => undefined, { shown: undefined, isCut: true }],
  ['stays', () => new Set<string>(), undefined],
])('a deleted resource whose definition %s', async (_, answer, kept) => {
  for (const [isComplete, isIncremental] of [
    [true, false],
    [true, true],
    [false, false],
  ] as const) {
    const ports = new ScriptedPorts();
    const roles = [permission('p', 'author', 'reader'), permission('q', 'author', 'writer')];
    ports.resources = [table('author'), ...roles];
    const { passState } = await reconcile(ports, OPTIONS);
    const asked: string[] = [];
    const lostAmong = async (owners: ReadonlyMap<string, string | undefined>) => {
      asked.push(...owners.keys());
      return answer(new Set(owners.keys()));
    };
    ports.given = snapshotOf([table('author'), roles[1]!], { isComplete, lostAmong });
    const report = await reconcile(ports, OPTIONS, isIncremental ? { passState } : {});
    expect(asked).toEqual(['TablePermission default/p']);
    const isServed = keys(ports).includes('select_permission/default/public/author/reader');
    expect(isServed).toBe(kept !== undefined || !isComplete);
    expect(report.plan?.pruneHold !== undefined).toBe(kept?.shown === 'PruneHeld');
    expect(report.isCut).toBe(kept?.isCut === true);
    expect(report.plan?.pruneHold?.lostKinds).toEqual(kept?.shown ? ['TablePermission'] : undefined);
  }
});

test('definitions are not read while every resource exists', async () => {
  const ports = new ScriptedPorts();
  const lostAmong = () => Promise.reject(new Error('read'));
  ports.given = snapshotOf([table('author'), permission('p', 'author', 'reader')], { lostAmong });
  await reconcile(ports, OPTIONS);
  // The table no longer has its object: the resource exists.
  ports.given = snapshotOf(
    [table('book'), permission('p', 'book', 'reader')].map((cr, i) => ({
      ...cr,
      metadata: { ...cr.metadata, name: ['author', 'p'][i]! },
    })),
    { lostAmong },
  );
  const { problem } = await reconcile(ports, OPTIONS);
  expect(problem).toBeUndefined();
});

test('a hold lasts while its resources come back one after the other', async () => {
  const ports = new ScriptedPorts();
  const tables = Array.from({ length: 30 }, (_, i) => table(`t${i}`));
  ports.resources = tables;
  await reconcile(ports, OPTIONS);
  ports.resources = [];
  await reconcile(ports, OPTIONS);
  for (let back = 1; back < 30; back++) {
    ports.resources = tables.slice(0, back);
    const report = await reconcile(ports, OPTIONS);
    expect(report.plan?.pruneHold).toMatchObject({ count: 30 - back, owned: 30 });
    expect(keys(ports)).toHaveLength(31);
  }
  ports.resources = tables;
  expect((await reconcile(ports, OPTIONS)).plan?.pruneHold).toBeUndefined();
  ports.resources = tables.slice(1);
  await reconcile(ports, OPTIONS);
  expect(keys(ports)).toHaveLength(30);
});

test('a deletion counts the nested objects that it removes, although resources still claim them', async () => {
  const ports = new ScriptedPorts();
  const roles = Array.from({ length: 30 }, (_, i) => permission(`p${i}`, 'author', `role${i}`));
  ports.resources = [table('author'), ...roles];
  await reconcile(ports, OPTIONS);
  ports.resources = roles;
  const report = await reconcile(ports, OPTIONS);
  expect(report.plan?.pruneHold).toMatchObject({ count: 31, owned: 31 });
  expect(keys(ports)).toHaveLength(32);
  expect(ports.readiness(roles[0]!)).toBe('True Applied');
  await reconcile(ports, { ...OPTIONS, confirmPrune: report.plan!.pruneHold!.hash });
  expect(keys(ports)).toEqual(['source/default']);
});

test('nested objects of other namespaces hold back no deletion', async () => {
  const ports = new ScriptedPorts();
  const roles = Array.from({ length: 30 }, (_, i) =>
    permission(`p${i}`, 'author', `role${i}`, ['id'], { namespace: 'team' }),
  );
  ports.resources = [table('author'), ...roles];
  await reconcile(ports, OPTIONS);
  ports.resources = roles;
  const report = await reconcile(ports, OPTIONS);
  expect(report.plan?.pruneHold).toBeUndefined();
  expect(keys(ports)).toEqual(['source/default']);
});

test('a concurrent write is not overwritten, and the change is repeated on the new version', async () => {
  const ports = new ScriptedPorts();
  let rivals = 3;
  ports.engine.before = (request) => {
    if (request !== 'write' || rivals-- <= 0) return;
    ports.engine.put({
      key: `query_collection/rival${rivals}`,
      kind: 'query_collection',
      parent: null,
      definition: { name: `rival${rivals}`, definition: { queries: [] } },
    });
  };
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  expect(ports.engine.metadata.query_collections).toHaveLength(3);
  expect(keys(ports)).toContain('table/default/public/author');
  expect(ports.slept).toEqual([275, 275, 275]);
});

test('the resources are read again after a write conflict', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('old')];
  ports.engine.before = (request) => {
    if (request !== 'write') return;
    ports.engine.before = () => {};
    ports.engine.resourceVersion++;
    ports.resources = [table('new')];
  };
  await reconcile(ports, OPTIONS);
  expect(keys(ports)).toEqual(['source/default', 'table/default/public/new']);
});

test('the pass ends with a conflict after eight write conflicts and leaves statuses unchanged', async () => {
  const ports = new ScriptedPorts();
  ports.engine.before = (request) => {
    if (request === 'write') ports.engine.resourceVersion++;
  };
  const cr = table('author');
  ports.resources = [cr];
  const report = await reconcile(ports, OPTIONS);
  expect(report.problem?.kind).toBe('conflict');
  expect(ports.slept).toHaveLength(7);
  expect(ports.readiness(cr)).toBe('none');
});

test('all resources wait while the engine does not respond, and owned objects stay owned', async () => {
  const ports = new ScriptedPorts();
  const cr = table('author');
  ports.resources = [cr];
  await reconcile(ports, OPTIONS);
  ports.engine.before = () => {
    throw new EngineProblem('unreachable', 'connection refused');
  };
  const report = await reconcile(ports, OPTIONS);
  expect(ports.readiness(cr)).toBe('False EngineUnreachable');
  expect(report.isWaiting).toBe(true);
  ports.engine.before = () => {};
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(cr)).toBe('True Applied');
  expect(ports.engine.writes).toHaveLength(1);
});

test('the next pass recovers when the response to a write was lost', async () => {
  const ports = new ScriptedPorts();
  const cr = table('author');
  ports.resources = [cr];
  const write = ports.engine.write.bind(ports.engine);
  ports.engine.write = async (change) => {
    await write(change);
    throw new EngineProblem('unreachable', 'timeout');
  };
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(cr)).toBe('False EngineUnreachable');
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(cr)).toBe('True Applied');
  expect(ports.engine.writes).toHaveLength(1);
});

test('a rejected admin secret has its own reason', async () => {
  const ports = new ScriptedPorts();
  const cr = table('author');
  ports.resources = [cr];
  ports.engine.before = () => {
    throw new EngineProblem('unauthorized', 'no');
  };
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(cr)).toBe('False EngineRejectedCredentials');
});

test('inconsistent objects without an owner do not affect resources', async () => {
  const ports = new ScriptedPorts();
  ports.engine.put({
    key: 'query_collection/theirs',
    kind: 'query_collection',
    parent: null,
    definition: { name: 'theirs', definition: { queries: [] } },
  });
  ports.engine.judge = broken('query_collection/theirs');
  const cr = table('author');
  ports.resources = [cr];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(cr)).toBe('True Applied');
});

test('an applied object that no longer fits the database is reported and not written again', async () => {
  const ports = new ScriptedPorts();
  const cr = table('author');
  ports.resources = [cr];
  await reconcile(ports, OPTIONS);
  ports.engine.judge = () => [inconsistent('table/default/public/author', 'not-exists', 'no such table')];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(cr)).toBe('False DependencyNotReady');
  expect(edited(ports)).toHaveLength(1);
});

test('a resource restored under a new uid remains the owner', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  await reconcile(ports, OPTIONS);
  const restored = table('author', { uid: 'another' });
  ports.resources = [restored];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(restored)).toBe('True Applied');
  expect(ports.engine.ledger.objects['table/default/public/author']?.uid).toBe('another');
});

test('a Source with an invalid connection template does not block other resources', async () => {
  const ports = new ScriptedPorts();
  const source = resource('Source', 'app', {
    name: 'app',
    connection: { url: { env: 'APP' } },
    connectionTemplate: { template: '{{ if' },
  });
  const other = table('author');
  ports.resources = [source, other];
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(source)).toBe('False InvalidSpec');
  expect(ports.message(source)).toContain('the template cannot be read');
  expect(ports.readiness(other)).toBe('True Applied');
});

test('the value of a Secret is sent before the metadata, which refers to it by name, and removed when nothing does', async () => {
  const ports = new ScriptedPorts();
  const source = resource('Source', 'app', {
    name: 'app',
    connection: { url: { secretKeyRef: { name: 'db', key: 'url' } } },
    deletionPolicy: 'Delete',
  });
  const secret = (text: string | undefined) => ({
    references: {
      secret: (...path: string[]) => (path.join('/') === 'default/db/url' ? text : undefined),
      configMap: () => undefined,
    },
  });
  const name = valueName({ manager: OPTIONS.manager, namespace: 'default', name: 'db', key: 'url' });
  ports.engine.before = (request) => {
    if (request === 'write') expect(ports.engine.values.get(name)).toBe('postgres://secret');
  };
  ports.given = snapshotOf([source], secret('postgres://secret'));
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(source)).toBe('True Applied');
  expect(JSON.stringify(ports.engine.metadata)).toContain(name);
  const visible = () => JSON.stringify([ports.engine.metadata, ports.engine.ledger, ports.status(source)]);
  expect(visible()).not.toContain('postgres://');
  const writes = ports.engine.writes.length;
  ports.given = snapshotOf([source], secret('postgres://rotated'));
  await reconcile(ports, OPTIONS);
  expect(ports.engine.values.get(name)).toBe('postgres://rotated');
  expect(ports.engine.writes.length).toBe(writes);
  ports.engine.before = () => {};
  ports.given = snapshotOf([source]);
  await reconcile(ports, OPTIONS);
  expect(ports.readiness(source)).toBe('False SecretNotFound');
  expect(keys(ports)).toContain('source/app');
  expect(ports.engine.values.get(name)).toBe('postgres://rotated');
  ports.engine.values.set('default/another/db/url', 'of another operator');
  ports.engine.before = () => {};
  ports.given = snapshotOf([]);
  await reconcile(ports, {
    ...OPTIONS,
    policies: { ...OPTIONS.policies, pruneGuard: { maxObjects: 9, maxPercent: 100 } },
  });
  expect(keys(ports)).not.toContain('source/app');
  expect([...ports.engine.values.keys()]).toEqual(['default/another/db/url']);
});

test.each([
  ['', 'is empty'],
  ['x'.repeat(65_537), 'has more than 65536 characters'],
])('a Secret with an unusable value makes the resource invalid', async (text, problem) => {
  const ports = new ScriptedPorts();
  const source = resource('Source', 'app', {
    name: 'app',
    connection: { url: { secretKeyRef: { name: 'db', key: 'url' } } },
  });
  ports.given = snapshotOf([source], {
    references: { secret: () => text, configMap: () => undefined },
  });
  await reconcile(ports, OPTIONS);
  expect(ports.message(source)).toContain(
    `spec.connection.url.secretKeyRef: key url of Secret default/db ${problem}`,
  );
  expect(ports.engine.values.size).toBe(0);
});

test('a pass gives up when the engine reports every write as inconsistent', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author')];
  let writes = 0;
  ports.engine.before = (request) => {
    if (request !== 'write') return;
    if (++writes > 20) throw new Error('it goes on for ever');
    throw new EngineProblem('inconsistent', 'it does not fit');
  };
  const report = await reconcile(ports, OPTIONS);
  // The third one stores why the resource is not served.
  expect([writes, report.problem]).toEqual([3, undefined]);
  expect(ports.readiness(table('author'))).toBe('False RejectedByEngine');
});

test('objects in a table that the engine does not serve wait for the table', async () => {
  const ports = new ScriptedPorts();
  const [author, reader] = [table('author'), permission('p', 'author', 'reader')];
  ports.resources = [author, reader];
  await reconcile(ports, OPTIONS);
  ports.engine.judge = () => [inconsistent('table/default/public/author', 'not-exists', 'no such table')];
  await reconcile(ports, OPTIONS);
  expect([ports.readiness(author), ports.readiness(reader)]).toEqual([
    'False DependencyNotReady',
    'False DependencyNotReady',
  ]);
  expect(ports.message(reader)).toContain('waits for');
  ports.engine.judge = () => [];
  await reconcile(ports, OPTIONS);
  expect([ports.readiness(author), ports.readiness(reader)]).toEqual(['True Applied', 'True Applied']);
});

test('limits without a limit are no object: only the manifest is written, once', async () => {
  const ports = new ScriptedPorts();
  const limits = resource('ApiLimits', 'limits', { depth: {} });
  ports.resources = [limits];
  for (const _ of [1, 2]) expect((await reconcile(ports, OPTIONS)).wasWritten).toBe(false);
  expect(ports.engine.writes.map(({ edits }) => edits)).toEqual([[]]);
  expect(ports.status(limits)?.conditions[0]).toMatchObject({ type: 'Ready', status: 'True' });
});

test('why a resource is not served is stored with the ledger, once for each reason, and removed when it is served', async () => {
  const ports = new ScriptedPorts();
  const stored = () => (ports.engine.operatorState as { readonly unserved?: object }).unserved;
  ports.engine.metadata = { ...ports.engine.metadata, sources: [] };
  const waiting = table('author');
  ports.resources = [waiting];
  await reconcile(ports, OPTIONS);
  const [name] = Object.keys(stored() ?? {});
  expect(name).toBe('Table default/author');
  expect(stored()).toEqual({
    [name!]: {
      manager: OPTIONS.manager,
      reason: expect.stringMatching(/^\w+$/),
      message: expect.any(String),
      since: expect.stringMatching(/^\d{4}-/),
    },
  });
  const writes = ports.engine.writes.length;
  await reconcile(ports, OPTIONS);
  expect(ports.engine.writes).toHaveLength(writes);
  ports.resources = [];
  await reconcile(ports, OPTIONS);
  expect(stored()).toEqual({});
});

test('a pass does not fail because the reasons cannot be stored', async () => {
  const ports = new ScriptedPorts();
  ports.engine.metadata = { ...ports.engine.metadata, sources: [] };
  ports.resources = [table('author')];
  ports.engine.before = (request) => {
    if (request === 'write') throw new EngineProblem('conflict', 'another client wrote');
  };
  const report = await reconcile(ports, OPTIONS);
  expect([report.problem, report.wasWritten]).toEqual([undefined, false]);
});
