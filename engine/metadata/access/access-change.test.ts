/** Tests what changes of permissions mean for a role. */
import { expect, test } from 'vitest';
import { accessChange } from './access-change.ts';

const KEY = 'select_permission/default/public/article/reader';
const select = (permission: object) => ({
  role: 'reader',
  permission: { columns: ['id'], filter: {}, ...permission },
});

test('a permission that appears is granted, with what it has in words', () => {
  expect(accessChange(KEY, undefined, select({ limit: 5 }))).toEqual({
    key: KEY,
    role: 'reader',
    on: 'public.article',
    operation: 'select',
    change: 'granted',
    verdict: 'wider',
    parts: [
      { name: 'columns', verdict: 'wider', before: null, after: 'id' },
      { name: 'filter', verdict: 'wider', before: null, after: 'all rows' },
      { name: 'limit', verdict: 'wider', before: null, after: '5' },
    ],
  });
  expect(accessChange(KEY, select({}), undefined)).toMatchObject({ change: 'revoked', verdict: 'narrower' });
});

test.each([
  [{ columns: ['id', 'title'] }, 'wider', 'columns', 'id', 'id, title'],
  [{ columns: '*' }, 'wider', 'columns', 'id', 'all'],
  [{ columns: [] }, 'narrower', 'columns', 'id', 'none'],
  [{ columns: ['title'] }, 'other', 'columns', 'id', 'title'],
  [{ computed_fields: ['excerpt'] }, 'wider', 'computed_fields', 'none', 'excerpt'],
  [{ filter: { id: { _gt: 3 } } }, 'narrower', 'filter', 'all rows', 'id is more than 3'],
  [{ limit: 10 }, 'narrower', 'limit', 'no limit', '10'],
  [{ allow_aggregations: true }, 'wider', 'allow_aggregations', 'no', 'yes'],
  [{ query_root_fields: [] }, 'narrower', 'query_root_fields', 'all', 'none'],
] as const)('%j is %s', (permission, verdict, name, before, after) => {
  const change = accessChange(KEY, select({}), select(permission));
  expect(change).toMatchObject({ change: 'changed', verdict, parts: [{ name, verdict, before, after }] });
});

test('a permission that is wider in one part and narrower in another is neither', () => {
  const change = accessChange(KEY, select({ limit: 5 }), select({ columns: [] }));
  expect(change?.verdict).toBe('other');
  expect(change?.parts.map(({ verdict }) => verdict)).toEqual(['narrower', 'wider']);
});

test('comments, orders and other objects do not change access', () => {
  expect(accessChange(KEY, select({}), { ...select({}), comment: 'new' })).toBeNull();
  expect(accessChange(KEY, select({ columns: ['a', 'b'] }), select({ columns: ['b', 'a'] }))).toBeNull();
  expect(accessChange('table/default/public/article', {}, { is_enum: true })).toBeNull();
});

test('a webhook that validates input restricts, and so does backend_only', () => {
  const key = 'insert_permission/default/public/article/reader';
  const insert = (more: object) => ({ role: 'reader', permission: { check: {}, ...more } });
  const hook = { type: 'http', definition: { url: 'http://checks' } };
  expect(accessChange(key, insert({ validate_input: hook }), insert({}))?.verdict).toBe('wider');
  expect(accessChange(key, insert({}), insert({ backend_only: true }))?.verdict).toBe('narrower');
  expect(accessChange(key, insert({}), insert({ set: { a: 1 } }))?.verdict).toBe('other');
  expect(accessChange(key, insert({ columns: ['a'] }), insert({}))?.verdict).toBe('wider');
});

test('a schema of a remote schema is compared by the members of its types, on one line', () => {
  const permission = (schema: string) => ({ role: 'reader', definition: { schema } });
  const words = (before: string | undefined, after: string) => {
    const given = before === undefined ? undefined : permission(before);
    const change = accessChange('remote_schema_permission/billing/reader', given, permission(after));
    return change?.parts.map((part) => [part.before, part.after]);
  };
  const old =
    'type Query {\n  user(id: Int): User\n}\ntype User {\n  id: Int\n  email: String\n}\nenum Kind { A B }';
  expect(words(undefined, old)).toEqual([
    [null, 'Query.user(id: Int): User, User.id: Int, User.email: String, Kind.A, Kind.B'],
  ]);
  expect(words(old, old.replace('  email: String\n', ''))).toEqual([['User.email: String', 'none']]);
  expect(words(old, old.replace('id: Int)', 'id: Int @preset(value: 3))'))).toEqual([
    ['Query.user(id: Int): User', 'Query.user(id: Int @preset(value: 3)): User'],
  ]);
  expect(words(old, old.replace('type User {', 'type User implements Node {'))).toEqual([
    ['none', 'type User implements Node'],
  ]);
  const reordered =
    'enum Kind { A B } type User { id: Int email: String } type Query { user(id: Int): User }';
  expect(words('enum Kind {A}', 'enum  Kind {A}')).toEqual([['Kind.A', 'Kind.A']]);
  expect(words(old, reordered)).toHaveLength(1);
  expect(words(old, 'type {')).toEqual([[expect.stringContaining('Query.user'), 'type {']]);
});

test('an inherited role with more parents may do more', () => {
  const role = (...role_set: string[]) => ({ role_name: 'staff', role_set });
  expect(accessChange('inherited_role/staff', role('a'), role('a', 'b'))).toMatchObject({
    role: 'staff',
    operation: 'inherit',
    verdict: 'wider',
  });
});
