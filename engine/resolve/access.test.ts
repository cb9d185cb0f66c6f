/** What a role may do: its own permissions, or everything for the administrator. */
import { expect, test } from 'vitest';
import { accessOf, NO_ACCESS, targetOf } from './access.ts';
import { TRUE } from './predicate.ts';
import { catalogOf, resolveTables, tableIn } from './testing/small-world.ts';

const world = resolveTables({
  author: {
    select_permissions: [
      { role: 'user', permission: { columns: ['id'], filter: { id: 'X-Engine-User-Id' } } },
    ],
  },
});
const author = world.table('author');

test('a role has what its permissions say', () => {
  expect(accessOf(author, 'user').select!.columns).toEqual(new Set(['id']));
  expect(accessOf(author, 'user').delete).toBeNull();
});

test('a role without permissions has nothing', () => {
  expect(accessOf(author, 'stranger')).toBe(NO_ACCESS);
  for (const role of ['', 'Admin', 'ADMIN', 'constructor'])
    expect(accessOf(author, role), role).toBe(NO_ACCESS);
});

test('the administrator is not restricted', () => {
  const { select, insert, update, delete: remove } = accessOf(author, 'admin');
  expect(select!.columns).toEqual(new Set(['id', 'name', 'email', 'tags', 'meta', 'joined']));
  expect([select!.filter, insert!.check, update!.filter, update!.check, remove!.filter]).toEqual(
    Array(5).fill(TRUE),
  );
  expect([select!.limit, insert!.presets.size, remove!.backendOnly]).toEqual([null, 0, false]);
});

test('not even the administrator writes where Postgres does not', () => {
  const view = catalogOf(tableIn('v', { id: 'int4' }, { kind: 'view', isReadOnly: true }));
  const access = accessOf(resolveTables({ v: {} }, view).table('v'), 'admin');
  expect([access.insert, access.update, access.delete]).toEqual([null, null, null]);
});

test('a join leads to the table in the model', () => {
  expect(targetOf(world.model, 'default', { schema: 'public', name: 'author' })).toBe(author);
  expect(() => targetOf(world.model, 'default', { schema: 'public', name: 'article' })).toThrow('no table');
});
