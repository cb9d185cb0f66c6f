/** Tests which groups of changes let a role reach more rows. The sentence about it is in operator/settle/held-text.test.ts. */
import { describe, expect, test } from 'vitest';
import type { MetadataObject } from '../metadata/objects.ts';
import type { Change } from './change.ts';
import { wideningsOf } from './widening.ts';

const OWN = { owner: { _eq: 'X-Engine-User-Id' } };
const ONE = { id: { _eq: 1 } };

type Given = readonly [key: string, definition: object];

const select = (role: string, filter: object, more: object = {}): Given => [
  `select_permission/default/public/note/${role}`,
  { role, permission: { columns: ['id'], filter, ...more } },
];
const update = (role: string, filter: object): Given => [
  `update_permission/default/public/note/${role}`,
  { role, permission: { columns: ['id'], filter } },
];
const inherits = (role_name: string, ...role_set: readonly string[]): Given => [
  `inherited_role/${role_name}`,
  { role_name, role_set },
];

const objectOf = ([key, definition]: Given) => ({ key, definition }) as MetadataObject;
const liveOf = (...given: readonly Given[]) => new Map(given.map((one) => [one[0], objectOf(one)]));
const put = ([key, definition]: Given): Change => ({ key, definition });
const gone = ([key]: Given): Change => ({ key, definition: undefined });
type Group = { readonly owner: string; readonly changes: readonly Change[] };
const change = (owner: string, ...changes: readonly Change[]): Group => ({ owner, changes });

function owners(live: ReturnType<typeof liveOf>, changes: readonly Group[], others: Change[] = []) {
  return [...wideningsOf(live, changes, others).keys()].map(({ owner }) => owner).toSorted();
}

test('only the change that widens is a cause, among many', () => {
  const live = liveOf(select('a', OWN), select('b', OWN), select('c', OWN));
  const changes = [
    change('narrows', put(select('a', { ...OWN, ...ONE }))),
    change('widens', put(select('b', {}))),
    change('is undecided', put(select('c', ONE))),
    change('is new', put(select('d', {}))),
    change('is gone', gone(select('e', {}))),
  ];
  expect(owners(live, changes)).toEqual(['is undecided', 'widens']);
  expect(owners(liveOf(), changes)).toEqual([]);
});

describe('a role that inherits', () => {
  const parents = [inherits('staff', 'a', 'b', 'c'), ...['a', 'b', 'c'].map((role) => select(role, {}))];

  test('makes the change of its parent the cause, and not what narrows another parent', () => {
    const live = liveOf(inherits('staff', 'a', 'b'), select('a', OWN), select('b', ONE));
    const changes = [
      change('narrows', put(select('a', { ...OWN, ...ONE }))),
      change('widens', put(select('b', {}))),
    ];
    expect(owners(live, changes)).toEqual(['widens']);
  });

  test('has several causes that widen only together', () => {
    const own = select('staff', OWN);
    const live = liveOf(...parents.slice(0, 1), ...['a', 'b', 'c'].map((role) => select(role, OWN)), own);
    const wider = change('widens a', put(select('a', {})));
    const own_gone = change('deletes the own permission', gone(own));
    // The parent widens itself; the role does only without its own permission.
    expect(owners(live, [wider, own_gone])).toEqual(['deletes the own permission', 'widens a']);
    expect(owners(live, [own_gone])).toEqual([]);
    // What was confirmed counts as made.
    expect(owners(live, [own_gone], [...wider.changes])).toEqual(['deletes the own permission']);
  });

  test('is widened by its own permission when parents that agree gave it less', () => {
    const live = liveOf(...parents, update('a', OWN));
    expect(owners(live, [change('own', put(update('staff', {})))])).toEqual(['own']);
    expect(owners(live, [change('own', put(update('staff', { ...OWN, ...ONE })))])).toEqual([]);
  });

  test('gets a permission and does not reach more when parents agree after a deletion', () => {
    const live = liveOf(...parents, update('a', OWN), update('b', ONE));
    expect(owners(live, [change('deletes', gone(update('b', ONE)))])).toEqual([]);
  });

  test('reaches more with a parent more', () => {
    const live = liveOf(inherits('staff', 'a'), select('a', OWN), select('b', {}));
    const made = wideningsOf(live, [change('role', put(inherits('staff', 'a', 'b')))], []);
    const [found] = made.values();
    expect(found!.map(({ key, role }) => `${role}: ${key}`)).toEqual([
      'staff: inherited_role/staff',
      'staff: select_permission/default/public/note/staff',
    ]);
  });
});

test('a change that only another one keeps from widening is found once that one is left out', () => {
  const live = liveOf(inherits('staff', 'a'), select('a', {}), select('staff', OWN), select('x', OWN));
  const deletes = change('deletes the own permission', gone(select('staff', OWN)));
  const both = change('narrows the parent and widens x', put(select('a', OWN)), put(select('x', {})));
  expect(owners(live, [deletes, both])).toEqual([
    'deletes the own permission',
    'narrows the parent and widens x',
  ]);
  expect(owners(live, [deletes, change('narrows', put(select('a', OWN)))])).toEqual([]);
});

describe('an object that permissions use', () => {
  const query = (code: string): Given => [
    'native_query/default/notes',
    { root_field_name: 'notes', returns: 'note_row', code },
  ];
  const model: Given = [
    'logical_model_permission/default/note_row/reader',
    { role: 'reader', permission: { columns: ['id'], filter: {} } },
  ];
  const search = (configuration: object): Given => ['function/default/public/search', { configuration }];
  const partsOf = (live: ReturnType<typeof liveOf>, after: Given) =>
    [...wideningsOf(live, [change('x', put(after))], []).values()].flat().map(({ role, on, parts }) => {
      return [role, on, ...parts.map(({ name, verdict }) => `${name} ${verdict}`)];
    });

  test('widens by its own change, also for every role', () => {
    expect(partsOf(liveOf(query('select 1'), model), query('select 2'))).toEqual([
      ['reader', 'note_row', 'code other'],
    ]);
    expect(partsOf(liveOf(search({})), search({ session_argument: 's' }))).toEqual([
      [null, 'public.search', 'session_argument other'],
    ]);
  });

  test('widens nothing that nobody may read', () => {
    expect(partsOf(liveOf(query('select 1')), query('select 2'))).toEqual([]);
    expect(partsOf(liveOf(model), query('select 1'))).toEqual([]);
  });
});
