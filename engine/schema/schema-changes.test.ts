import { describe, expect, test } from 'vitest';
import type { Table } from '../metadata/schema/table.ts';
import { AUTHORS, resolveTables } from '../resolve/testing/small-world.ts';
import { type RoleSchemaChanges, schemaChanges } from './schema-changes.ts';

type Tables = Readonly<Record<string, Partial<Table>>>;

const model = (tables: Tables) => resolveTables(tables, AUTHORS).model;
const changes = (before: Tables, after: Tables): readonly RoleSchemaChanges[] =>
  [...schemaChanges(model(before), model(after))].filter((one) => one !== null);

const select = (role: string, columns: string[], rest: object = {}) => ({
  role,
  permission: { columns, filter: {}, ...rest },
});
const author = (...select_permissions: ReturnType<typeof select>[]): Tables => ({
  author: { select_permissions },
});
const typesOf = (found: readonly RoleSchemaChanges[], severity: string) => [
  ...new Set(found.flatMap((role) => role.changes.filter((c) => c.severity === severity).map((c) => c.type))),
];

test('the same model has no changes', () => {
  const same = model(author(select('reader', ['id', 'name'])));
  expect([...schemaChanges(same, same)].filter((one) => one !== null)).toEqual([]);
});

test('a column less is breaking, for the role that had it and no other', () => {
  const found = changes(
    author(select('reader', ['id', 'name']), select('other', ['id', 'name'])),
    author(select('reader', ['id']), select('other', ['id', 'name'])),
  );
  expect(found.map(({ role }) => role)).toEqual(['reader']);
  // The first one is what clients notice; types and fields of inputs follow from it.
  expect(found[0]!.changes[0]).toEqual({
    severity: 'breaking',
    type: 'FIELD_REMOVED',
    description: 'Field author.name was removed.',
    affects: ['author.name'],
  });
  expect(found[0]!.breaking).toBe(found[0]!.changes.filter(({ severity }) => severity === 'breaking').length);
});

test('only the affected roles are compared', () => {
  const tables = (columns: string[]) => model(author(select('reader', columns), select('other', columns)));
  const found = [...schemaChanges(tables(['id', 'name']), tables(['id']), new Set(['other']))];
  expect(found.map((one) => one?.role)).toEqual(['other']);
});

test('a column more is safe: what only inputs gain changes no answer', () => {
  const [found, ...others] = changes(
    author(select('reader', ['id'])),
    author(select('reader', ['id', 'name'])),
  );
  expect(others).toEqual([]);
  expect(found).toMatchObject({ role: 'reader', breaking: 0, dangerous: 0, changes: [] });
  expect(found!.safe).toBeGreaterThan(1);
});

test('a filter, a limit that no schema shows is no change', () => {
  const filter = { id: { _eq: 'X-Engine-User-Id' } };
  expect(
    changes(author(select('reader', ['id'])), author(select('reader', ['id'], { filter, limit: 5 }))),
  ).toEqual([]);
});

test('aggregations that go are breaking', () => {
  const found = changes(
    author(select('reader', ['id'], { allow_aggregations: true })),
    author(select('reader', ['id'])),
  );
  expect(typesOf(found, 'breaking')).toContain('FIELD_REMOVED');
});

describe('roles that come and go', () => {
  test('a new role has no clients', () => {
    expect(changes(author(), author(select('reader', ['id'])))).toEqual([]);
  });

  test('a role that is gone is one breaking change', () => {
    expect(changes(author(select('reader', ['id'])), author())).toEqual([
      {
        role: 'reader',
        breaking: 1,
        dangerous: 0,
        safe: 0,
        changes: [
          {
            severity: 'breaking',
            type: 'ROLE_REMOVED',
            description: 'the role reader has no permission any more',
            affects: null,
          },
        ],
      },
    ]);
  });

  test('the placeholder of a schema without queries does not count when the first query comes', () => {
    const insert_permissions = [{ role: 'writer', permission: { columns: ['name'], check: {} } }];
    const before: Tables = { author: { insert_permissions } };
    const after: Tables = { author: { insert_permissions, select_permissions: [select('writer', ['id'])] } };
    const [found] = changes(before, after);
    expect(JSON.stringify(found)).not.toContain('no_queries_available');
    expect(found).toMatchObject({ role: 'writer', breaking: 0 });
    expect(changes(after, before)[0]!.breaking).toBeGreaterThan(0);
  });
});

test('an insert that only a backend may use is seen although other clients have no such field', () => {
  const insert = (columns: string[], backend_only: boolean): Tables => ({
    author: {
      select_permissions: [select('writer', ['id'])],
      insert_permissions: [{ role: 'writer', permission: { columns, check: {}, backend_only } }],
    },
  });
  expect(changes(insert(['id', 'name'], true), insert(['name'], true))[0]!.breaking).toBeGreaterThan(0);
  expect(changes(insert(['name'], false), insert(['name'], true))[0]!.breaking).toBeGreaterThan(0);
  expect(changes(insert(['name'], true), insert(['name'], false))[0]).toMatchObject({ breaking: 0 });
});
