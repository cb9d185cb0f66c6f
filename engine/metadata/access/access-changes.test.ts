/** Tests what changes of objects mean for roles that inherit. Single permissions are in access-change.test.ts. */
import { describe, expect, test } from 'vitest';
import { differingKeys, objectsByKey } from '../testing/objects-by-key.ts';
import type { AccessChange } from './access-change.ts';
import { accessChanges } from './access-changes.ts';
import type { Objects } from './inherited-access.ts';

const OWN = { owner: { _eq: 'X-Engine-User-Id' } };
const PUBLIC = { is_public: { _eq: true } };

const select = (role: string, filter: object = OWN, more: object = {}, table = 'note') => ({
  [`select_permission/default/public/${table}/${role}`]: {
    role,
    permission: { columns: ['id'], filter, ...more },
  },
});
const update = (role: string, filter: object = OWN) => ({
  [`update_permission/default/public/note/${role}`]: { role, permission: { columns: ['text'], filter } },
});
const inherits = (role_name: string, ...role_set: readonly string[]) => ({
  [`inherited_role/${role_name}`]: { role_name, role_set },
});

const objects = objectsByKey;

/** Returns one line for each change of access: `staff select changed wider <- what causes it`. */
function changes(before: Objects, after: Objects): readonly string[] {
  return accessChanges(differingKeys(before, after), before, after).map(({ change, causes }) => {
    const { role, operation, verdict, isInherited = false } = change;
    const from = causes.filter((key) => key !== change.key).map((key) => key.split('/').at(-1));
    return [
      role,
      operation,
      change.change,
      verdict,
      ...(isInherited ? ['inherited'] : []),
      ...(from.length > 0 ? [`<- ${from.join(', ')}`] : []),
    ].join(' ');
  });
}

/** Returns the parts of the change of a role. */
function partsOf(role: string, before: Objects, after: Objects): AccessChange['parts'] {
  const all = accessChanges(differingKeys(before, after), before, after);
  return all.find(({ change }) => change.role === role)?.change.parts ?? [];
}

const STAFF = inherits('staff', 'a', 'b');

describe('a role that inherits', () => {
  test('reaches more with the permission of a parent, at any distance', () => {
    const roles = [STAFF, inherits('boss', 'staff'), select('b', PUBLIC)];
    expect(changes(objects(...roles, select('a')), objects(...roles, select('a', {})))).toEqual([
      'a select changed wider',
      'boss select changed wider inherited <- a',
      'staff select changed wider inherited <- a',
    ]);
  });

  test('does not change when another parent gives the rows anyway', () => {
    const roles = [STAFF, select('b', {})];
    expect(changes(objects(...roles, select('a')), objects(...roles, select('a', PUBLIC)))).toEqual([
      'a select changed other',
    ]);
    // A limit of one parent is lifted by the other.
    expect(
      changes(objects(...roles, select('a', {}, { limit: 5 })), objects(...roles, select('a', {}))),
    ).toEqual(['a select changed wider']);
  });

  test('reads a column in more rows when another parent gets it, and in fewer when it loses it', () => {
    const own = [STAFF, inherits('boss', 'staff', 'c'), select('c', OWN)];
    const masked = objects(...own, select('a', PUBLIC), select('b', {}, { columns: ['id', 'salary'] }));
    const shown = objects(
      ...own,
      select('a', PUBLIC, { columns: ['id', 'salary'] }),
      select('b', {}, { columns: ['id', 'salary'] }),
    );
    // The parent with all rows has the column already.
    expect(changes(masked, shown)).toEqual(['a select changed wider']);
    const hidden = objects(...own, select('a', PUBLIC, { columns: ['id', 'salary'] }), select('b', {}));
    expect(changes(hidden, shown)).toEqual([
      'b select changed wider',
      'boss select changed wider inherited <- b',
      'staff select changed wider inherited <- b',
    ]);
    expect(changes(shown, hidden)).toEqual([
      'b select changed narrower',
      'boss select changed narrower inherited <- b',
      'staff select changed narrower inherited <- b',
    ]);
    expect(partsOf('staff', hidden, shown)).toEqual([
      { name: 'rows with salary', verdict: 'wider', before: 'is_public is true', after: 'all rows' },
    ]);
  });

  test('reads a column in more rows by a weaker filter of the parent that has it', () => {
    const roles = [STAFF, select('b', {})];
    const salary = { columns: ['id', 'salary'] };
    expect(
      changes(objects(...roles, select('a', OWN, salary)), objects(...roles, select('a', {}, salary))),
    ).toEqual(['a select changed wider', 'staff select changed wider inherited <- a']);
    // All columns of one parent include what the other lists.
    const all = { columns: '*' };
    expect(
      partsOf(
        'staff',
        objects(...roles, select('a', OWN, all)),
        objects(...roles, select('a', PUBLIC, all)),
      ).map(({ name, verdict }) => `${name} ${verdict}`),
    ).toEqual(['rows with other columns other']);
  });

  test('reads a computed field in more rows, which all columns of another parent do not give', () => {
    const field = { computed_fields: ['age'] };
    const roles = [STAFF, select('a', OWN, field)];
    expect(
      partsOf(
        'staff',
        objects(...roles, select('b', {}, { columns: '*' })),
        objects(...roles, select('b', {}, { columns: '*', ...field })),
      ).map(({ name, verdict }) => `${name} ${verdict}`),
    ).toEqual(['rows with age wider']);
  });

  test('reaches more rows when another parent is granted a permission', () => {
    const before = objects(STAFF, select('a'), select('b', {}, {}, 'other'));
    const after = objects(STAFF, select('a'), select('b', {}, {}, 'other'), select('b', PUBLIC));
    expect(changes(before, after)).toEqual([
      'b select granted wider',
      'staff select changed wider inherited <- b',
    ]);
  });

  test('gets permissions to write when a deletion makes its parents agree', () => {
    const before = objects(STAFF, select('a'), select('b'), update('a'), update('b', PUBLIC));
    const after = objects(STAFF, select('a'), select('b'), update('a'));
    expect(changes(before, after)).toEqual([
      'b update revoked narrower',
      'staff update granted wider inherited <- b',
    ]);
    const equal = { _and: [OWN] };
    expect(
      changes(before, objects(STAFF, select('a'), select('b'), update('a'), update('b', equal))),
    ).toEqual(['b update changed other', 'staff update granted wider inherited <- b']);
  });

  test('stays without a permission to write that an unclear parent does not have', () => {
    const roles = [STAFF, inherits('boss', 'staff', 'c'), update('a'), update('b', PUBLIC)];
    expect(changes(objects(...roles), objects(...roles, update('c')))).toEqual(['c update granted wider']);
  });

  test('reaches the rows of its parents when its own permission is deleted', () => {
    const parents = [STAFF, select('a', PUBLIC), select('b', {})];
    expect(changes(objects(...parents, select('staff')), objects(...parents))).toEqual([
      'staff select changed wider inherited',
    ]);
    expect(changes(objects(...parents), objects(...parents, select('staff')))).toEqual([
      'staff select changed narrower inherited',
    ]);
    // Its own permission hides what the parents may.
    const own = [...parents, select('staff')];
    expect(changes(objects(...own), objects(...own, select('a', {})))).toEqual(['a select changed wider']);
  });

  test('has the tables of a parent that it gains, and loses those of one that is gone', () => {
    const roles = [select('a'), select('b', PUBLIC), select('b', {}, {}, 'other')];
    expect(changes(objects(inherits('staff', 'a'), ...roles), objects(STAFF, ...roles))).toEqual([
      'staff inherit changed wider',
      'staff select changed wider inherited <- staff',
      'staff select granted wider inherited <- staff',
    ]);
    expect(changes(objects(STAFF, ...roles), objects(inherits('staff', 'a'), ...roles))).toEqual([
      'staff inherit changed narrower',
      'staff select changed narrower inherited <- staff',
      'staff select revoked narrower inherited <- staff',
    ]);
  });

  test('has nothing while nothing names one of its parents, and everything from the first object that does', () => {
    const before = objects(STAFF, select('a'));
    const after = objects(STAFF, select('a'), select('b', {}, {}, 'other'));
    expect(changes(before, after)).toEqual([
      'staff select granted wider inherited <- b',
      'b select granted wider',
      'staff select granted wider inherited <- b',
    ]);
  });

  test('is one change when it is declared together with everything', () => {
    expect(changes(objects(), objects(STAFF, select('a'), select('b')))).toEqual([
      'staff inherit granted wider',
      'a select granted wider',
      'b select granted wider',
    ]);
  });

  test('is compared in bounded time through many roles that inherit from each other', () => {
    const levels = Array.from({ length: 40 }, (_, i) => [
      inherits(`x${i + 1}`, `x${i}`, `y${i}`),
      inherits(`y${i + 1}`, `y${i}`, `x${i}`, 'z'),
    ]).flat();
    const roles = [...levels, select('y0', PUBLIC), select('z', { id: { _eq: 1 } })];
    const found = changes(objects(...roles, select('x0')), objects(...roles, select('x0', {})));
    expect(found).toContain('x40 select changed wider inherited <- x0');
    expect(found).toHaveLength(81);
  });

  test('inherits nothing from a cycle or from the administrator', () => {
    const cycle = [inherits('x', 'y'), inherits('y', 'x'), inherits('z', 'admin')];
    expect(changes(objects(...cycle, select('a')), objects(...cycle, select('a', {})))).toEqual([
      'a select changed wider',
    ]);
  });
});

test('what a role may call is inherited from any parent, a remote schema from parents that agree', () => {
  const call = (role: string) => ({ [`function_permission/default/public/total/${role}`]: { role } });
  const remote = (role: string, schema: string) => ({
    [`remote_schema_permission/billing/${role}`]: { role, definition: { schema } },
  });
  const one = 'type Query { a: Int }';
  const roles = [STAFF, remote('a', one), remote('b', 'type Query { b: Int }')];
  expect(changes(objects(...roles), objects(STAFF, remote('a', one), remote('b', one), call('a')))).toEqual([
    'a call granted wider',
    'staff call granted wider inherited <- a',
    'b call changed other',
    'staff call granted wider inherited <- b',
  ]);
});

test('objects that no permission uses change nothing', () => {
  const table = (is_enum: boolean) => ({ 'table/default/public/note': { table: 'note', is_enum } });
  expect(changes(objects(table(false), STAFF), objects(table(true), STAFF))).toEqual([]);
});
