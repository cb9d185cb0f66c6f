/** Tests the policy holdBack in a pass: what is held back, what is not, and what releases it. */
import { beforeEach, describe, expect, test } from 'vitest';
import { CONFIRM_CHANGE_ANNOTATION } from '../decide/pending-change.ts';
import type { CustomResource } from '../kinds.ts';
import { EngineProblem, type ReconcileOptions } from '../ports.ts';
import { engineStatusOf, outcomeOfPass } from '../status/engine-status.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, permission, resource, table } from '../testing/resources.ts';
import { reportEffects } from '../testing/scripted-effects.ts';
import { inconsistent } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { type PreviousPass, reconcile } from './reconcile.ts';

const HOLDING: ReconcileOptions = {
  ...OPTIONS,
  policies: {
    ...OPTIONS.policies,
    holdBack: ['Breaking'],
    pruneGuard: { maxObjects: 1000, maxPercent: 100 },
  },
};

let ports: ScriptedPorts;
let comparisons: { count: number };
let before: PreviousPass;

beforeEach(() => {
  ports = new ScriptedPorts();
  comparisons = reportEffects(ports.engine);
  before = {};
});

async function pass(resources: readonly CustomResource[], options: Partial<ReconcileOptions> = {}) {
  ports.resources = resources;
  const report = await reconcile(ports, { ...HOLDING, ...options }, before);
  const { passState, backoff, heldBack } = report;
  before = { passState, backoff, heldBack };
  return report;
}

const author = table('author');
const reads = (columns: readonly string[], generation = 1, annotations: Record<string, string> = {}) =>
  permission('reads', 'author', 'reader', columns, { generation, annotations });
const KEY = 'select_permission/default/public/author/reader';
const served = (key = KEY) =>
  (ports.engine.objects.get(key)?.definition as { permission: { columns: readonly string[] } } | undefined)
    ?.permission.columns;
const hashOf = (report: Report, owner = 'TablePermission default/reads') => report.heldBack.get(owner)!.hash;
const outcomesOf = (report: Report) =>
  Object.fromEntries(
    report.resources.map(({ metadata }) => [
      metadata.name,
      report.verdicts.get(metadata.uid)!.outcome.reason,
    ]),
  );
const statusOf = (report: Report) =>
  engineStatusOf(resource('Engine', 'main', { endpoint: { url: 'http://engine' } }), report, {
    now: ports.time,
    progressDeadlineSeconds: 300,
  });

describe('a change that removes a field', () => {
  test('is not written, names role, field and hash, and the last version stays', async () => {
    await pass([author, reads(['id', 'name'])]);
    const report = await pass([author, reads(['id'], 2)]);
    expect(served()).toEqual(['id', 'name']);
    expect(ports.readiness(reads(['id']))).toBe('False ChangeHeldBack');
    expect(ports.message(reads(['id']))).toBe(
      'The change is held back, it would break clients of role reader (Field author.name was removed); ' +
        `set the annotation pergola.dev/confirm-change: ${hashOf(report)} to apply it; serving generation 1.`,
    );
    expect(ports.status(reads(['id']))?.conditions.map(({ type }) => type)).toEqual(['Ready', 'Stalled']);
    expect(statusOf(report).heldBack).toEqual([
      {
        resource: 'TablePermission default/reads',
        hash: hashOf(report),
        message: expect.stringContaining('Field author.name was removed'),
      },
    ]);
    // The resource says it itself.
    expect(outcomeOfPass(report).reason).toBe('Applied');
  });

  test('does not hold back other resources, and those that add fields are never held back', async () => {
    await pass([author, reads(['id', 'name'])]);
    const more = permission('writes', 'author', 'writer', ['id']);
    const report = await pass([author, table('book'), more, reads(['id'], 2)]);
    expect(outcomesOf(report)).toEqual({
      author: 'Applied',
      book: 'Applied',
      writes: 'Applied',
      reads: 'ChangeHeldBack',
    });
    expect(served('select_permission/default/public/author/writer')).toEqual(['id']);
    expect(served()).toEqual(['id', 'name']);
  });

  test('is written once its hash is confirmed, on the resource or on the Engine', async () => {
    await pass([author, reads(['id', 'name'])]);
    const hash = hashOf(await pass([author, reads(['id'], 2)]));
    const wrong = await pass([author, reads(['id'], 2, { [CONFIRM_CHANGE_ANNOTATION]: 'true' })]);
    expect(outcomesOf(wrong)).toMatchObject({ reads: 'ChangeHeldBack' });
    await pass([author, reads(['id'], 2, { [CONFIRM_CHANGE_ANNOTATION]: hash })]);
    expect(served()).toEqual(['id']);
    expect(ports.readiness(reads(['id'], 2))).toBe('True Applied');
    const next = hashOf(await pass([author, reads([], 3, { [CONFIRM_CHANGE_ANNOTATION]: hash })]));
    expect(served()).toEqual(['id']);
    expect(next).not.toBe(hash);
    await pass([author, reads([], 3)], { confirmChange: `${hash},${next}` });
    expect(served()).toEqual([]);
  });

  test('is held back again when it is another one: the confirmation stands for one change', async () => {
    await pass([author, reads(['id', 'name', 'born'])]);
    const hash = hashOf(await pass([author, reads(['id', 'born'], 2)]));
    const annotations = { [CONFIRM_CHANGE_ANNOTATION]: hash };
    await pass([author, reads(['id'], 3, annotations)]);
    expect(served()).toEqual(['id', 'name', 'born']);
    await pass([author, reads(['id', 'born'], 4, annotations)]);
    expect(served()).toEqual(['id', 'born']);
    // The same target from another version is another change.
    await pass([author, reads(['id', 'born', 'rank'], 5, annotations)]);
    const report = await pass([author, reads(['id', 'born'], 6, annotations)]);
    expect(outcomesOf(report)).toMatchObject({ reads: 'ChangeHeldBack' });
    expect(served()).toEqual(['id', 'born', 'rank']);
  });

  test('is gone when the resource is as before, or when the policy is gone', async () => {
    await pass([author, reads(['id', 'name'])]);
    await pass([author, reads(['id'], 2)]);
    const undone = await pass([author, reads(['id', 'name'], 3)]);
    expect(outcomesOf(undone)).toMatchObject({ reads: 'Applied' });
    expect(undone.heldBack.size).toBe(0);
    await pass([author, reads(['id'], 4)]);
    await pass([author, reads(['id'], 4)], { policies: OPTIONS.policies });
    expect(served()).toEqual(['id']);
  });

  test('is compared once and not in each pass, and again later', async () => {
    await pass([author, reads(['id', 'name'])]);
    await pass([author, reads(['id'], 2)]);
    const { count } = comparisons;
    for (let i = 0; i < 3; i++) await pass([author, reads(['id'], 2)]);
    expect(comparisons.count).toBe(count);
    ports.time = new Date(ports.time.getTime() + 60_000);
    await pass([author, reads(['id'], 2)]);
    expect(comparisons.count).toBeGreaterThan(count);
    expect(served()).toEqual(['id', 'name']);
  });
});

test('without the policy nothing is compared and nothing is held back', async () => {
  for (const policies of [OPTIONS.policies, { ...OPTIONS.policies, holdBack: [] }]) {
    await pass([author, reads(['id', 'name'])], { policies });
    await pass([author, reads(['id'], 2)], { policies });
    expect(served()).toEqual(['id']);
  }
  expect(comparisons.count).toBe(0);
});

test('a pass that writes nothing compares nothing, and a safe change costs one comparison', async () => {
  await pass([author, reads(['id'])]);
  expect(comparisons.count).toBe(1);
  await pass([author, reads(['id'])]);
  expect(comparisons.count).toBe(1);
  await pass([author, reads(['id', 'name'], 2)]);
  expect(comparisons.count).toBe(2);
  expect(served()).toEqual(['id', 'name']);
});

describe('the deletion of a resource', () => {
  test('is a change, which the Engine reports and its annotation confirms', async () => {
    await pass([author, reads(['id'])]);
    const held = await pass([author]);
    expect(served()).toEqual(['id']);
    const { reason, message } = outcomeOfPass(held);
    expect(reason).toBe('ChangeHeldBack');
    expect(message).toContain('TablePermission default/reads is deleted: the change is held back');
    expect(message).toContain('the role reader has no permission any more');
    expect(statusOf(held).conditions[0]).toMatchObject({ type: 'Ready', status: 'False', reason });
    const released = await pass([author], { confirmChange: hashOf(held) });
    expect(served()).toBeUndefined();
    expect(outcomeOfPass(released).reason).toBe('Applied');
  });

  test('of a table holds back nothing that is independent of it, and what is no loss is deleted', async () => {
    const idle = table('idle');
    await pass([author, reads(['id']), idle]);
    const report = await pass([table('book')]);
    expect([...ports.engine.objects.keys()].filter((key) => key.startsWith('table/'))).toEqual([
      'table/default/public/author',
      'table/default/public/book',
    ]);
    expect([...report.heldBack.keys()].toSorted()).toEqual([
      'Table default/author',
      'TablePermission default/reads',
    ]);
  });
});

test('several causes are found among many changes, and only they are held back', async () => {
  const names = Array.from({ length: 30 }, (_, i) => `t${i}`);
  const tables = names.map((name) => table(name));
  const all = (columns: (i: number) => readonly string[], generation: number) =>
    names.map((name, i) => permission(`p-${name}`, name, `role-${i}`, columns(i), { generation }));
  await pass([...tables, ...all(() => ['id', 'name'], 1)]);
  const isCause = (i: number) => i === 3 || i === 17;
  const columns = (i: number) => (isCause(i) ? ['id'] : ['id', 'name', 'born']);
  comparisons.count = 0;
  const report = await pass([...tables, ...all(columns, 2)]);
  expect([...report.heldBack.keys()].toSorted()).toEqual([
    'TablePermission default/p-t17',
    'TablePermission default/p-t3',
  ]);
  for (const [i, name] of names.entries()) {
    const expected = isCause(i) ? ['id', 'name'] : columns(i);
    expect(served(`select_permission/default/public/${name}/role-${i}`)).toEqual(expected);
  }
  expect(comparisons.count).toBeLessThan(24);
});

test('more causes than one pass can find: nothing breaks meanwhile, and the next passes find the others', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `t${i}`);
  const tables = names.map((name) => table(name));
  const all = (columns: readonly string[], generation: number) =>
    names.map((name, i) => permission(`p-${name}`, name, `role-${i}`, columns, { generation }));
  await pass([...tables, ...all(['id', 'name'], 1)]);
  const wanted = [...tables, ...all(['id'], 2), permission('more', 't0', 'another', ['id'])];
  comparisons.count = 0;
  let report = await pass(wanted);
  expect(comparisons.count).toBeLessThanOrEqual(34);
  expect(report.isCut).toBe(true);
  for (let passes = 0; report.isCut; passes++) {
    expect(passes).toBeLessThan(8);
    report = await pass(wanted);
  }
  expect(report.heldBack.size).toBe(60);
  expect(outcomesOf(report)['more']).toBe('Applied');
  for (const [i, name] of names.entries())
    expect(served(`select_permission/default/public/${name}/role-${i}`)).toEqual(['id', 'name']);
});

test('deletions that break a role only together are found one after the other', async () => {
  const book = table('book');
  const other = (columns: readonly string[], generation = 1) =>
    permission('books', 'book', 'reader', columns, { generation });
  await pass([author, book, reads(['id']), other(['id'])]);
  const report = await pass([author, book]);
  expect([...report.heldBack.keys()].toSorted()).toEqual([
    'TablePermission default/books',
    'TablePermission default/reads',
  ]);
  expect(served()).toEqual(['id']);
});

describe('what no resource changes is not held back', () => {
  test('drift is corrected, also if that removes a field', async () => {
    await pass([author, reads(['id'])]);
    const object = ports.engine.objects.get(KEY)!;
    const definition = { role: 'reader', permission: { columns: ['id', 'name'], filter: {} } };
    ports.engine.put({ ...object, definition });
    await pass([author, reads(['id'])]);
    expect(served()).toEqual(['id']);
    // Together with a change that is held back.
    ports.engine.put({ ...object, definition });
    const writes = permission('writes', 'author', 'writer', ['id', 'name']);
    await pass([author, reads(['id']), writes]);
    ports.engine.put({ ...object, definition });
    const narrower = permission('writes', 'author', 'writer', ['id'], { generation: 2 });
    const report = await pass([author, reads(['id']), narrower]);
    expect(served()).toEqual(['id']);
    expect(outcomesOf(report)).toMatchObject({ reads: 'Applied', writes: 'ChangeHeldBack' });
  });
});

describe('what cannot be compared is held back', () => {
  const narrowed = async () => {
    await pass([author, reads(['id', 'name'])]);
    return (schemaEffects: typeof ports.engine.schemaEffects | undefined) => {
      if (schemaEffects) ports.engine.schemaEffects = schemaEffects;
      else delete ports.engine.schemaEffects;
      return pass([author, reads(['id'], 2)]);
    };
  };

  test.each([
    ['an engine that has no comparison', undefined],
    [
      'an engine that does not know the argument',
      async () => {
        throw new EngineProblem('unsupported', 'old', { reason: 'the engine does not report it; update it' });
      },
    ],
    ['a comparison that is not complete', async () => ({ schemas: [], isComplete: false })],
  ] as const)('%s', async (_, schemaEffects) => {
    const run = await narrowed();
    const report = await run(schemaEffects);
    expect(served()).toEqual(['id', 'name']);
    expect(ports.readiness(reads(['id']))).toBe('False ChangeHeldBack');
    expect(ports.message(reads(['id']))).toMatch(/^It is not known whether the change breaks clients/);
    await pass([author, reads(['id'], 2)], { confirmChange: hashOf(report) });
    expect(served()).toEqual(['id']);
  });

  test('breaking changes that the engine does not list', async () => {
    const run = await narrowed();
    await run(async () => ({
      schemas: [{ role: 'reader', breaking: 3, dangerous: 0, safe: 0, changes: [] }],
      isComplete: true,
    }));
    expect(served()).toEqual(['id', 'name']);
    expect(ports.message(reads(['id']))).toContain('3 more breaking changes');
  });

  test('a source that does not answer: its objects wait, others do not', async () => {
    const remote = resource('QueryCollection', 'common', { name: 'common', queries: [] });
    await pass([author, reads(['id', 'name'])]);
    ports.engine.judge = () => [inconsistent('source/default', 'postgres-error', 'connection refused')];
    // As in an engine: what is not served has no schema.
    ports.engine.schemaEffects = async () => ({ schemas: [], isComplete: true });
    const report = await pass([author, reads(['id'], 2), remote]);
    expect(served()).toEqual(['id', 'name']);
    expect(outcomesOf(report)).toMatchObject({ reads: 'SourceUnavailable', common: 'Applied' });
    expect(ports.message(reads(['id']))).toContain('it is not known whether the change breaks clients');
    ports.engine.judge = () => [];
    comparisons = reportEffects(ports.engine);
    expect(outcomesOf(await pass([author, reads(['id'], 2), remote]))).toMatchObject({
      reads: 'ChangeHeldBack',
    });
  });
});

test('a resource that the engine rejects is rejected, and not held back', async () => {
  await pass([author, reads(['id', 'name'])]);
  ports.engine.judge = (objects) =>
    JSON.stringify(objects.get(KEY)?.definition).includes('nothing') ? [inconsistent(KEY)] : [];
  const writes = permission('writes', 'author', 'writer', ['id']);
  const report = await pass([author, reads(['nothing'], 2), writes]);
  expect(outcomesOf(report)).toEqual({ author: 'Applied', reads: 'RejectedByEngine', writes: 'Applied' });
});

test('the pass fails when the engine does not answer the comparison, and writes nothing', async () => {
  await pass([author, reads(['id', 'name'])]);
  const { resourceVersion } = ports.engine;
  ports.engine.schemaEffects = async () => {
    throw new EngineProblem('unreachable', 'the connection was closed');
  };
  const report = await pass([author, reads(['id'], 2)]);
  expect(report.problem?.kind).toBe('unreachable');
  expect(ports.engine.resourceVersion).toBe(resourceVersion);
});
