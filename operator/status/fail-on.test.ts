import type { AccessChange, MetadataObject } from '@pergola/engine/metadata';
import { describe, expect, test } from 'vitest';
import { accessOfDecisions } from '../decide/access.ts';
import type { Decision } from '../decide/decide.ts';
import type { SchemaEffects } from '../ports/schema-effects.ts';
import { FAIL_ON, type FailOn, refusedChanges } from './fail-on.ts';

const CR = { kind: 'TablePermission', metadata: { namespace: 'shop', name: 'note' } };
const NO_EFFECTS: SchemaEffects = { schemas: [], isComplete: true };
const KEY = 'select_permission/default/public/note/reader';

/** Returns what the levels refuse of the decisions, whose `live` objects are those of the engine. */
function refusedOf(
  decisions: readonly Decision[],
  levels: readonly FailOn[],
  others: readonly MetadataObject[] = [],
) {
  const changed = decisions.flatMap(({ live: object }) => object ?? []);
  const live = new Map([...changed, ...others].map((object) => [object.key, object]));
  return refusedChanges(accessOfDecisions(live, decisions), NO_EFFECTS, levels);
}

/** A planned change of the select permission of reader; undefined is a permission that does not exist. */
function change(before: object | undefined, after: object | undefined): Decision {
  const object = (permission: object) => ({ key: KEY, definition: { role: 'reader', permission } });
  return {
    key: KEY,
    action: after === undefined ? 'delete' : before === undefined ? 'create' : 'update',
    entry: { cr: 'TablePermission shop/note' },
    ...(before ? { live: object(before) } : {}),
    ...(after ? { claim: { object: object(after), cr: CR } } : {}),
  } as unknown as Decision;
}

const OWN = { owner: { _eq: 'X-Engine-User-Id' } };
const base = { columns: ['id'], filter: OWN, limit: 10 };

describe('what each level refuses', () => {
  test.each([
    ['a filter that is gone', base, { ...base, filter: {} }, ['widened', 'granted']],
    [
      'a filter that is weaker',
      base,
      { ...base, filter: { _or: [OWN, { id: { _eq: 1 } }] } },
      ['widened', 'granted'],
    ],
    [
      'a filter that is not comparable',
      base,
      { ...base, filter: { id: { _eq: 1 } } },
      ['widened', 'granted'],
    ],
    ['a filter that is stronger', base, { ...base, filter: { _and: [OWN, { id: { _eq: 1 } }] } }, []],
    ['a limit that is higher', base, { ...base, limit: 11 }, ['widened', 'granted']],
    ['a limit that is gone', base, { columns: ['id'], filter: OWN }, ['widened', 'granted']],
    ['a limit that is lower', base, { ...base, limit: 9 }, []],
    ['a column more', base, { ...base, columns: ['id', 'text'] }, ['granted']],
    ['a column less', { ...base, columns: ['id', 'text'] }, base, []],
    ['aggregations', base, { ...base, allow_aggregations: true }, ['granted']],
    ['a new permission', undefined, base, ['granted']],
    ['a permission that is gone', base, undefined, []],
    [
      'more rows and fewer columns',
      { ...base, columns: ['id', 'text'] },
      { ...base, filter: {} },
      ['widened', 'granted'],
    ],
    [
      'more columns and fewer rows',
      { ...base, filter: {} },
      { ...base, columns: ['id', 'text'] },
      ['granted'],
    ],
    ['the same in other words', base, { ...base, filter: { _and: [OWN] } }, []],
  ] as const)('%s', (_, before, after, expected) => {
    const refused = FAIL_ON.filter((level) => refusedOf([change(before, after)], [level]).length > 0);
    expect(refused).toEqual(expected);
  });

  test('an inherited role with another parent reaches more rows', () => {
    const key = 'inherited_role/staff';
    const role = (role_set: readonly string[]) => ({ key, definition: { role_name: 'staff', role_set } });
    const decision = {
      key,
      action: 'update',
      live: role(['a']),
      claim: { object: role(['a', 'b']), cr: CR },
    };
    expect(refusedOf([decision as unknown as Decision], ['widened'])).toHaveLength(1);
  });
});

describe('a role that inherits', () => {
  const select = (role: string, filter: object) => ({
    key: `select_permission/default/public/note/${role}`,
    definition: { role, permission: { ...base, filter } },
  });
  const inherited = [
    { key: 'inherited_role/staff', definition: { role_name: 'staff', role_set: ['reader', 'writer'] } },
    select('writer', { id: { _eq: 1 } }),
  ] as unknown as readonly MetadataObject[];

  test('is refused beside the parent that reaches more, and names the resource', () => {
    expect(refusedOf([change(base, { ...base, filter: {} })], ['widened'], inherited)).toMatchObject([
      { resource: 'TablePermission shop/note', key: KEY },
      {
        resource: 'TablePermission shop/note',
        key: 'select_permission/default/public/note/staff',
        message: expect.stringMatching(/^staff reaches more of public\.note \(select, by the roles that it/),
      },
    ]);
  });

  test('reaches more rows by a new permission of a parent, which widens nothing for the parent', () => {
    const named = { key: 'action_permission/pay/reader', definition: { role: 'reader' } } as unknown;
    const others = [...inherited, named as MetadataObject];
    const refused = (level: FailOn) => refusedOf([change(undefined, base)], [level], others);
    expect(refused('widened').map(({ key }) => key)).toEqual(['select_permission/default/public/note/staff']);
    expect(refused('granted')).toHaveLength(2);
  });

  test('names no resource when several cause it together', () => {
    const mine = change(base, { ...base, filter: {} });
    const writer = select('writer', { id: { _eq: 1 } });
    const theirs = {
      key: writer.key,
      action: 'update',
      entry: { cr: 'TablePermission shop/other' },
      live: writer,
      claim: { object: select('writer', {}), cr: { ...CR, metadata: { namespace: 'shop', name: 'other' } } },
    } as unknown as Decision;
    const refused = refusedOf([mine, theirs], ['widened'], inherited.slice(0, 1));
    expect(refused.map(({ resource }) => resource)).toEqual([
      'TablePermission shop/note',
      undefined,
      'TablePermission shop/other',
    ]);
  });
});

test('a change for requests is granted when something is added, and breaks clients when something is gone', () => {
  const endpoint = {
    key: 'rest_endpoint/notes',
    role: null,
    on: 'notes',
    operation: 'request',
    parts: [],
  } as const;
  const levelsOf = (change: AccessChange) =>
    FAIL_ON.filter((level) => refusedChanges([{ change, decisions: [] }], NO_EFFECTS, [level]).length > 0);
  expect(levelsOf({ ...endpoint, change: 'granted', verdict: 'wider' })).toEqual(['granted']);
  expect(levelsOf({ ...endpoint, change: 'revoked', verdict: 'narrower' })).toEqual([
    'breaking',
    'breaking-in-use',
  ]);
  const parts = [{ name: 'query', verdict: 'other', before: 'a', after: 'b' }] as const;
  expect(levelsOf({ ...endpoint, change: 'changed', verdict: 'other', parts })).toEqual([
    'granted',
    'breaking',
    'breaking-in-use',
  ]);
});

test('a refused change says which resource, and what it means', () => {
  const decision = change(base, { ...base, filter: {} });
  expect(refusedOf([decision], ['widened'])).toMatchObject([
    {
      resource: 'TablePermission shop/note',
      key: KEY,
      message: expect.stringContaining('reader reaches more of public.note (select): filter: '),
    },
  ]);
});

describe('breaking', () => {
  const removed = {
    severity: 'breaking',
    type: 'FIELD_REMOVED',
    description: 'Field note.text was removed.',
  };
  const effects = (breaking: number, isComplete = true): SchemaEffects => ({
    schemas: [{ role: 'reader', breaking, dangerous: 1, safe: 2, changes: breaking > 0 ? [removed] : [] }],
    isComplete,
  });

  test('names the role, a change, and how many more', () => {
    expect(refusedChanges([], effects(3), ['breaking'])).toEqual([
      { level: 'breaking', message: 'the schema of reader: Field note.text was removed; and 2 more' },
    ]);
  });

  test('dangerous and safe changes pass, and other levels do not look', () => {
    expect(refusedChanges([], effects(0), ['breaking'])).toEqual([]);
    expect(refusedChanges([], effects(3), ['widened', 'granted'])).toEqual([]);
  });

  test('roles that were not compared are refused', () => {
    expect(refusedChanges([], effects(0, false), ['breaking'])).toHaveLength(1);
  });
});

describe('breaking-in-use', () => {
  const LEVEL = ['breaking-in-use'] as const;
  const DESCRIPTION = 'Field note.text was removed.';
  const NOTES = { operation: 'Notes', client: 'web', requests: 3, lastDay: '2026-11-24' };
  const USAGE = { days: 30, since: '2026-11-01' };

  /** The effects of 3 breaking changes, of which `inUse` affect operations. */
  function effects(
    inUse: number | undefined,
    given: Partial<SchemaEffects> = {},
    uncounted = 0,
  ): SchemaEffects {
    const users =
      inUse === undefined ? {} : { usedByCount: inUse > 0 ? 1 : 0, usedBy: inUse > 0 ? [NOTES] : [] };
    const change = { severity: 'breaking', type: 'FIELD_REMOVED', description: DESCRIPTION, ...users };
    const role = { role: 'reader', breaking: 3, dangerous: 0, safe: 0, changes: [change] };
    return {
      schemas: [{ ...role, breakingInUse: inUse, uncounted }],
      isComplete: true,
      usage: USAGE,
      ...given,
    };
  }
  const messages = (given: SchemaEffects) => refusedChanges([], given, LEVEL).map(({ message }) => message);

  test('names a change, the operations that it breaks, and how many more are in use', () => {
    expect(refusedChanges([], effects(2), LEVEL)).toEqual([
      {
        level: 'breaking-in-use',
        message:
          'the schema of reader: Field note.text was removed, used by Notes of web (3 requests, last on 2026-11-24); and 1 more in use',
      },
    ]);
  });

  test('breaking changes that no operation uses pass, and other levels do not look', () => {
    expect(messages(effects(0))).toEqual([]);
    expect(refusedChanges([], effects(2), ['widened', 'granted'])).toEqual([]);
    expect(refusedChanges([], effects(2), ['breaking', 'breaking-in-use']).map(({ level }) => level)).toEqual(
      ['breaking', 'breaking-in-use'],
    );
  });

  test('what is not known is refused, with the reason', () => {
    const first = 'the schema of reader: Field note.text was removed; and 2 more; ';
    const uncounted = 'the engine does not count what clients use (--field-usage-days)';
    expect(messages(effects(undefined, { usage: null }))).toEqual([first + uncounted]);
    const { usage: _, ...older } = effects(undefined);
    expect(messages(older)).toEqual([first + uncounted]);
    expect(messages(effects(0, { usage: { days: 30, since: null } }))).toEqual([
      `${first}the engine has counted no request in the last 30 days`,
    ]);
    expect(messages(effects(0, {}, 12))).toEqual([
      `${first}12 requests are not counted by operation, and any of them may be affected`,
    ]);
    expect(messages(effects(0, { isComplete: false }))).toHaveLength(1);
  });

  test('a role without breaking changes passes, whatever is known', () => {
    const role = { role: 'reader', breaking: 0, dangerous: 1, safe: 2, changes: [] };
    expect(messages({ schemas: [role], isComplete: true, usage: null })).toEqual([]);
  });
});
