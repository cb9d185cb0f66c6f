/** Tests the policy holdBack in a pass: what is held back, what is not, and what releases it. Which changes widen access is in
 *  settle/widening.test.ts. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Decision } from '../decide/decide.ts';
import { CONFIRM_CHANGE_ANNOTATION } from '../decide/pending-change.ts';
import type { CustomResource } from '../kinds.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import { engineStatusOf, outcomeOfPass } from '../status/engine-status.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, permission, resource, table } from '../testing/resources.ts';
import { reportEffects } from '../testing/scripted-effects.ts';
import { inconsistent } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { editsForMigrations } from './hold-back.ts';
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
let before: PreviousPass;

beforeEach(() => {
  ports = new ScriptedPorts();
  reportEffects(ports.engine);
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
    const count = ports.engine.comparisons;
    for (let i = 0; i < 3; i++) await pass([author, reads(['id'], 2)]);
    expect(ports.engine.comparisons).toBe(count);
    ports.time = new Date(ports.time.getTime() + 60_000);
    await pass([author, reads(['id'], 2)]);
    expect(ports.engine.comparisons).toBeGreaterThan(count);
    expect(served()).toEqual(['id', 'name']);
  });
});

test('without the policy nothing is compared and nothing is held back', async () => {
  for (const policies of [OPTIONS.policies, { ...OPTIONS.policies, holdBack: [] }]) {
    await pass([author, reads(['id', 'name'])], { policies });
    await pass([author, reads(['id'], 2)], { policies });
    expect(served()).toEqual(['id']);
  }
  expect(ports.engine.comparisons).toBe(0);
});

test('a pass that writes nothing compares nothing, and a safe change costs one comparison', async () => {
  await pass([author, reads(['id'])]);
  expect(ports.engine.comparisons).toBe(1);
  await pass([author, reads(['id'])]);
  expect(ports.engine.comparisons).toBe(1);
  await pass([author, reads(['id', 'name'], 2)]);
  expect(ports.engine.comparisons).toBe(2);
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

test('an endpoint that is gone breaks clients of every role, and does not widen', async () => {
  const common = resource('QueryCollection', 'common', { name: 'common', queries: [] });
  const query = { collection: 'common', name: 'all' };
  const endpoint = (name: string) =>
    resource('RestEndpoint', name, { name, url: name, methods: ['GET'], query });
  await pass([author, reads(['id']), common, endpoint('one'), endpoint('two')]);
  const held = await pass([author, reads(['id', 'name'], 2), common, endpoint('two')]);
  expect([...held.heldBack.keys()]).toEqual(['RestEndpoint default/one']);
  expect(outcomeOfPass(held).message).toContain(
    'RestEndpoint default/one is deleted: the change is held back, it would break clients of every role (The endpoint one is gone); set',
  );
  expect(ports.engine.objects.has('rest_endpoint/one')).toBe(true);
  expect(served()).toEqual(['id', 'name']);
  const policies = { ...HOLDING.policies, holdBack: ['Widened'] as const };
  await pass([author, reads(['id', 'name'], 2), common, endpoint('two')], { policies });
  expect(ports.engine.objects.has('rest_endpoint/one')).toBe(false);
});

test('several causes are found among many changes, and only they are held back', async () => {
  const names = Array.from({ length: 30 }, (_, i) => `t${i}`);
  const tables = names.map((name) => table(name));
  const all = (columns: (i: number) => readonly string[], generation: number) =>
    names.map((name, i) => permission(`p-${name}`, name, `role-${i}`, columns(i), { generation }));
  await pass([...tables, ...all(() => ['id', 'name'], 1)]);
  const isCause = (i: number) => i === 3 || i === 17;
  const columns = (i: number) => (isCause(i) ? ['id'] : ['id', 'name', 'born']);
  ports.engine.comparisons = 0;
  const report = await pass([...tables, ...all(columns, 2)]);
  expect([...report.heldBack.keys()].toSorted()).toEqual([
    'TablePermission default/p-t17',
    'TablePermission default/p-t3',
  ]);
  for (const [i, name] of names.entries()) {
    const expected = isCause(i) ? ['id', 'name'] : columns(i);
    expect(served(`select_permission/default/public/${name}/role-${i}`)).toEqual(expected);
  }
  expect(ports.engine.comparisons).toBeLessThan(24);
});

test('more causes than one pass can find: nothing breaks meanwhile, and the next passes find the others', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `t${i}`);
  const tables = names.map((name) => table(name));
  const all = (columns: readonly string[], generation: number) =>
    names.map((name, i) => permission(`p-${name}`, name, `role-${i}`, columns, { generation }));
  await pass([...tables, ...all(['id', 'name'], 1)]);
  const wanted = [...tables, ...all(['id'], 2), permission('more', 't0', 'another', ['id'])];
  ports.engine.mostComparisons = 32;
  let report = await pass(wanted);
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
  const reporting = async (effects: ReturnType<typeof ports.engine.effectsBetween>) => {
    await pass([author, reads(['id', 'name'])]);
    ports.engine.effectsBetween = () => effects;
    return pass([author, reads(['id'], 2)]);
  };

  test('a comparison that is not complete', async () => {
    const report = await reporting({ schemas: [], isComplete: false });
    expect(served()).toEqual(['id', 'name']);
    expect(ports.readiness(reads(['id']))).toBe('False ChangeHeldBack');
    expect(ports.message(reads(['id']))).toMatch(/^It is not known whether the change breaks clients/);
    await pass([author, reads(['id'], 2)], { confirmChange: hashOf(report) });
    expect(served()).toEqual(['id']);
  });

  test('breaking changes that the engine does not list', async () => {
    await reporting({
      schemas: [{ role: 'reader', breaking: 3, dangerous: 0, safe: 0, changes: [] }],
      isComplete: true,
    });
    expect(served()).toEqual(['id', 'name']);
    expect(ports.message(reads(['id']))).toContain('3 more breaking changes');
  });

  test('a source that does not answer: its objects wait, others do not', async () => {
    const remote = resource('QueryCollection', 'common', { name: 'common', queries: [] });
    await pass([author, reads(['id', 'name'])]);
    ports.engine.judge = () => [inconsistent('source/default', 'postgres-error', 'connection refused')];
    // As in an engine: what is not served has no schema.
    ports.engine.effectsBetween = () => ({ schemas: [], isComplete: true });
    const report = await pass([author, reads(['id'], 2), remote]);
    expect(served()).toEqual(['id', 'name']);
    expect(outcomesOf(report)).toMatchObject({ reads: 'SourceUnavailable', common: 'Applied' });
    expect(ports.message(reads(['id']))).toContain('it is not known whether the change breaks clients');
    ports.engine.judge = () => [];
    reportEffects(ports.engine);
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

test.each(['unreachable', 'unsupported'] as const)(
  'the pass fails when the engine does not say what fits (%s), and writes nothing',
  async (kind) => {
    await pass([author, reads(['id', 'name'])]);
    const { resourceVersion } = ports.engine;
    ports.engine.before = (request) => {
      if (request === 'admit') throw new EngineProblem(kind, 'no answer');
    };
    const report = await pass([author, reads(['id'], 2)]);
    expect(report.problem?.kind).toBe(kind);
    expect(ports.engine.resourceVersion).toBe(resourceVersion);
  },
);

describe('holdBack: [Widened]', () => {
  const OWN = { owner: { _eq: 'X-Engine-User-Id' } };
  const holding = (...holdBack: NonNullable<ReconcileOptions['policies']['holdBack']>) => ({
    policies: { ...HOLDING.policies, holdBack },
  });
  const WIDENED = holding('Widened');
  const BOTH = holding('Breaking', 'Widened');
  const rows = (
    filter: object,
    { columns = ['id'], role = 'reader', name = 'reads', on = 'author', ...given }: RowsGiven = {},
  ) =>
    resource(
      'TablePermission',
      name,
      { source: 'default', table: on, role, select: { columns, filter } },
      given,
    );
  type RowsGiven = {
    readonly columns?: readonly string[];
    readonly role?: string;
    readonly name?: string;
    readonly on?: string;
    readonly generation?: number;
    readonly annotations?: Record<string, string>;
  };
  const filterOf = (role = 'reader', on = 'author') => {
    const object = ports.engine.objects.get(`select_permission/default/public/${on}/${role}`);
    return (object?.definition as { permission: { filter: object } } | undefined)?.permission.filter;
  };
  const staff = (...roles: readonly string[]) => resource('InheritedRole', 'staff', { roles, role: 'staff' });

  test('a change that reaches more rows is not written, says how to confirm it, and is written then', async () => {
    await pass([author, rows(OWN)], WIDENED);
    const report = await pass([author, rows({}, { generation: 2 })], WIDENED);
    expect(filterOf()).toEqual(OWN);
    expect(ports.readiness(rows({}))).toBe('False ChangeHeldBack');
    expect(ports.message(rows({}))).toBe(
      'The change is held back, it would let role reader reach more rows of public.author: filter: owner is ' +
        `X-Engine-User-Id → all rows; set the annotation pergola.dev/confirm-change: ${hashOf(report)} to apply it; ` +
        'serving generation 1.',
    );
    expect(ports.engine.comparisons).toBe(0);
    const annotations = { [CONFIRM_CHANGE_ANNOTATION]: hashOf(report) };
    await pass([author, rows({}, { generation: 2, annotations })], WIDENED);
    expect(filterOf()).toEqual({});
    // The confirmation stands for this change only.
    await pass([author, rows(OWN, { generation: 3, annotations })], WIDENED);
    const other = await pass([author, rows({ id: { _gt: 1 } }, { generation: 4, annotations })], WIDENED);
    expect(ports.message(rows({}))).toMatch(
      /^The change is held back, it may let role reader reach more rows/,
    );
    expect(hashOf(other)).not.toBe(hashOf(report));
    expect(filterOf()).toEqual(OWN);
  });

  test('what reaches fewer rows, more columns or is new is written, also in the first pass', async () => {
    const all = [author, rows(OWN), rows({}, { name: 'writes', role: 'writer' }), staff('reader', 'writer')];
    expect((await pass(all, WIDENED)).heldBack.size).toBe(0);
    const more = rows({ ...OWN, id: { _eq: 1 } }, { columns: ['id', 'name'], generation: 2 });
    expect((await pass([author, more, ...all.slice(2)], WIDENED)).heldBack.size).toBe(0);
    expect((await pass([author, ...all.slice(2)], WIDENED)).heldBack.size).toBe(0);
    expect(filterOf()).toBeUndefined();
  });

  test('others are written in the same pass, and the change is compared again in each', async () => {
    await pass([author, rows(OWN)], WIDENED);
    const report = await pass([author, rows({}, { generation: 2 }), table('book')], WIDENED);
    expect(outcomesOf(report)).toEqual({ author: 'Applied', reads: 'ChangeHeldBack', book: 'Applied' });
    const same = await pass([author, rows({}, { generation: 2 }), table('book')], WIDENED);
    expect(hashOf(same)).toBe(hashOf(report));
    expect((await pass([author, rows(OWN, { generation: 3 }), table('book')], WIDENED)).heldBack.size).toBe(
      0,
    );
  });

  test('both policies give one message and one hash', async () => {
    await pass([author, rows(OWN, { columns: ['id', 'name'] })], BOTH);
    const report = await pass([author, rows({}, { generation: 2 })], BOTH);
    expect(ports.message(rows({}))).toBe(
      'The change is held back, it would let role reader reach more rows of public.author: ' +
        'filter: owner is X-Engine-User-Id → all rows; and it would break clients of role reader (Field author.name ' +
        `was removed); set the annotation pergola.dev/confirm-change: ${hashOf(report)} to apply it; serving generation 1.`,
    );
    expect(report.heldBack.size).toBe(1);
    const count = ports.engine.comparisons;
    await pass([author, rows({}, { generation: 2 })], BOTH);
    expect(ports.engine.comparisons).toBe(count);
    await pass([author, rows({}, { generation: 2 })], { ...BOTH, confirmChange: hashOf(report) });
    expect(filterOf()).toEqual({});
    expect(served()).toEqual(['id']);
  });

  test('both policies: what only widens is compared once with what clients use, and what only breaks says only that', async () => {
    const books = (columns: readonly string[], generation = 1) =>
      permission('books', 'book', 'reader', columns, { generation });
    const wanted = [author, table('book'), rows(OWN), books(['id', 'name'])];
    await pass(wanted, BOTH);
    const changed = [author, table('book'), rows({}, { generation: 2 }), books(['id'], 2)];
    await pass(changed, BOTH);
    expect(ports.message(rows({}))).not.toContain('break clients');
    expect(ports.message(books(['id']))).not.toContain('more rows');
    const count = ports.engine.comparisons;
    await pass(changed, BOTH);
    expect(ports.engine.comparisons).toBe(count);
    expect([filterOf(), served('select_permission/default/public/book/reader')]).toEqual([
      OWN,
      ['id', 'name'],
    ]);
  });

  test('a comparison that is not complete: the message says both', async () => {
    await pass([author, rows(OWN)], BOTH);
    ports.engine.effectsBetween = () => ({ schemas: [], isComplete: false });
    const report = await pass([author, rows({}, { generation: 2 })], BOTH);
    expect(ports.message(rows({}))).toMatch(
      /it would let role reader reach more rows .*; it is not known whether the change breaks clients/,
    );
    expect(report.heldBack.size).toBe(1);
    await pass([author, rows(OWN)], WIDENED);
    await pass([author, rows({ ...OWN, id: { _eq: 1 } }, { generation: 3 })], WIDENED);
    expect(filterOf()).toEqual({ ...OWN, id: { _eq: 1 } });
  });

  test('a role that inherits: the parent that widens it is held, also by a new permission', async () => {
    const writer = rows(OWN, { name: 'writes', role: 'writer' });
    const book = rows({}, { name: 'books', role: 'reader', on: 'book' });
    const before = [author, table('book'), writer, book, staff('reader', 'writer')];
    await pass(before, WIDENED);
    const report = await pass([...before, rows({})], WIDENED);
    expect(outcomesOf(report)).toMatchObject({
      reads: 'ChangeHeldBack',
      writes: 'Applied',
      staff: 'Applied',
    });
    expect(ports.message(rows({}))).toContain(
      'it would let role staff reach more rows of public.author, by the roles that it inherits from: filter: ',
    );
    expect(filterOf()).toBeUndefined();
    // Without an inherited role it is a new permission.
    const alone = await pass([...before.slice(0, -1), rows({})], WIDENED);
    expect(outcomesOf(alone)).toMatchObject({ reads: 'Applied' });
  });

  test('an inherited role with a parent more is held, and one with a parent less is not', async () => {
    const before = [author, rows(OWN), rows({}, { name: 'writes', role: 'writer' })];
    await pass([...before, staff('reader')], WIDENED);
    const more = await pass([...before, staff('reader', 'writer')], WIDENED);
    expect(outcomesOf(more)).toMatchObject({ staff: 'ChangeHeldBack' });
    expect(ports.message(staff())).toContain(
      'let role staff reach more rows: role_set: reader → reader, writer',
    );
    const confirmed = { ...WIDENED, confirmChange: hashOf(more, 'InheritedRole default/staff') };
    expect(outcomesOf(await pass([...before, staff('reader', 'writer')], confirmed))['staff']).toBe(
      'Applied',
    );
    expect(outcomesOf(await pass([...before, staff('reader')], WIDENED))['staff']).toBe('Applied');
  });

  test('a permission that moves to another resource is compared with what it was', async () => {
    await pass([author, rows(OWN)], WIDENED);
    const moved = await pass([author, rows(OWN, { name: 'moved' })], WIDENED);
    expect(outcomesOf(moved)).toMatchObject({ moved: 'Applied' });
    const wider = await pass([author, rows({}, { name: 'again' })], WIDENED);
    expect(outcomesOf(wider)).toMatchObject({ again: 'ChangeHeldBack' });
    expect(filterOf()).toEqual(OWN);
  });

  test('a bundle is held as a whole', async () => {
    const bundle = (filter: object, generation = 1) =>
      resource(
        'MetadataBundle',
        'all',
        {
          objects: [
            {
              key: 'table/default/public/author',
              definition: { table: { schema: 'public', name: 'author' } },
            },
            { key: KEY, definition: { role: 'reader', permission: { columns: ['id'], filter } } },
            {
              key: 'select_permission/default/public/author/writer',
              definition: { role: 'writer', permission: { columns: ['id'], filter } },
            },
          ],
        },
        { generation },
      );
    await pass([bundle(OWN)], WIDENED);
    await pass([bundle({}, 2)], WIDENED);
    expect(ports.message(bundle({}))).toMatch(
      /role reader reach more rows of public\.author: .*, and 1 more; set/,
    );
    expect([filterOf('reader'), filterOf('writer')]).toEqual([OWN, OWN]);
  });

  test('a restoration is written, and an adoption that widens is held', async () => {
    await pass([author, rows({})], WIDENED);
    const object = ports.engine.objects.get(KEY)!;
    const narrow = { role: 'reader', permission: { columns: ['id'], filter: OWN } };
    ports.engine.put({ ...object, definition: narrow });
    await pass([author, rows({})], WIDENED);
    expect(filterOf()).toEqual({});
    const key = 'select_permission/default/public/author/writer';
    ports.engine.put({ ...object, key, definition: { ...narrow, role: 'writer' } });
    const adopting = { policies: { ...WIDENED.policies, adoption: 'Always' as const } };
    const adopted = await pass([author, rows({}), rows({}, { name: 'writes', role: 'writer' })], adopting);
    expect(outcomesOf(adopted)).toMatchObject({ writes: 'ChangeHeldBack' });
    expect(filterOf('writer')).toEqual(OWN);
  });

  test('a source that does not answer holds back nothing that does not widen', async () => {
    await pass([author, rows(OWN)], WIDENED);
    ports.engine.judge = () => [inconsistent('source/default', 'postgres-error', 'connection refused')];
    await pass([author, rows({ ...OWN, id: { _eq: 1 } }, { generation: 2 })], WIDENED);
    expect(filterOf()).toEqual({ ...OWN, id: { _eq: 1 } });
    await pass([author, rows({}, { generation: 3 })], WIDENED);
    expect(filterOf()).toEqual({ ...OWN, id: { _eq: 1 } });
    expect(ports.readiness(rows({}))).toBe('False ChangeHeldBack');
  });

  test('a migration does not rely on a change that widens before it is confirmed, and on others it does', async () => {
    await pass([author, rows(OWN), rows(OWN, { name: 'writes', role: 'writer' })], WIDENED);
    const reading = await ports.engine.read();
    const update = (cr: CustomResource, role: string, filter: object): Decision => {
      const live = ports.engine.objects.get(`select_permission/default/public/author/${role}`)!;
      const object = { ...live, definition: { role, permission: { columns: ['id'], filter } } };
      const claim = { object, cr, hash: JSON.stringify(filter) } as unknown as NonNullable<Decision['claim']>;
      return { key: live.key, action: 'update', live, claim };
    };
    const decisions = [
      update(rows({}), 'reader', {}),
      update(rows(OWN, { name: 'writes' }), 'writer', { ...OWN, id: { _eq: 1 } }),
    ];
    const editsWith = (confirmChange?: string) => {
      const options = { ...HOLDING, ...WIDENED, confirmChange };
      return editsForMigrations(ports.engine, reading, decisions, { resources: [], options });
    };
    const { edits, withheld } = await editsWith();
    expect(edits.map(({ key }) => key)).toEqual(['select_permission/default/public/author/writer']);
    const [, hash] = /TablePermission default\/reads \(([0-9a-f]+)\)$/.exec(withheld!)!;
    expect((await editsWith(hash)).edits).toHaveLength(2);
    expect(ports.engine.comparisons).toBe(0);
  });

  test('a value that this version does not know stands for both', async () => {
    await pass([author, rows(OWN)], WIDENED);
    const unknown = holding('Narrowed' as never);
    await pass([author, rows({}, { generation: 2 })], unknown);
    expect(filterOf()).toEqual(OWN);
  });
});
