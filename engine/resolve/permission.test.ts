/** Permissions: which columns, which rows, which values; and that a wrong one gives nothing at all. */
import { expect, test } from 'vitest';
import { printPath } from '../errors/engine-error.ts';
import type { Table } from '../metadata/schema/table.ts';
import { accessOf } from './access.ts';
import { TRUE } from './predicate.ts';
import { catalogOf, resolveTables, tableIn, typeOf } from './testing/small-world.ts';

const CATALOG = catalogOf(
  tableIn(
    'order',
    {
      id: { identity: 'always', isNullable: false },
      owner: 'text!',
      total: 'numeric',
      secret: 'text',
      doubled: { isGenerated: true },
      'odd name': 'text',
    },
    { primaryKey: ['id'] },
  ),
  tableIn('totals', { sum: 'int8' }, { kind: 'materialized view', isReadOnly: true }),
);

const permit = (entry: Partial<Table>, table = 'order') => {
  const world = resolveTables({ [table]: entry }, CATALOG);
  return { ...world, access: accessOf(world.table(table), 'user'), resolved: world.table(table) };
};
const select = (rule: object) =>
  permit({ select_permissions: [{ role: 'user', permission: { columns: '*', filter: {}, ...rule } }] });
const insert = (rule: object) =>
  permit({ insert_permissions: [{ role: 'user', permission: { check: {}, ...rule } }] });
const update = (rule: object) =>
  permit({ update_permissions: [{ role: 'user', permission: { columns: '*', filter: {}, ...rule } }] });

test('a role reads the listed columns and no others', () => {
  const { access } = select({ columns: ['id', 'owner'] });
  expect([...access.select!.columns]).toEqual(['id', 'owner']);
  expect(access.select!.columns.has('secret')).toBe(false);
});

test('a star is every column GraphQL can name', () => {
  expect([...select({}).access.select!.columns]).toEqual(['id', 'owner', 'total', 'secret', 'doubled']);
});

test('no columns at all is a permission too', () => {
  expect(select({ columns: [] }).access.select!.columns.size).toBe(0);
});

test('aggregation, limit and root fields are off, none and all by default', () => {
  expect(select({}).access.select).toMatchObject({
    filter: TRUE,
    limit: null,
    allowsAggregation: false,
    queryRootFields: null,
    subscriptionRootFields: null,
  });
  const rule = { limit: 5, allow_aggregations: true, query_root_fields: [], subscription_root_fields: null };
  expect(select(rule).access.select).toMatchObject({
    limit: 5,
    allowsAggregation: true,
    queryRootFields: new Set(),
    subscriptionRootFields: null,
  });
});

test('a client writes neither generated columns nor presets', () => {
  const { access } = insert({ set: { owner: 'X-Engine-User-Id' } });
  expect([...access.insert!.columns]).toEqual(['total', 'secret']);
  expect([...access.insert!.presets]).toEqual([
    ['owner', { kind: 'session', variable: 'x-engine-user-id', type: typeOf('text') }],
  ]);
  expect([...insert({ columns: ['id', 'owner', 'doubled'] }).access.insert!.columns]).toEqual(['owner']);
});

test('an update may have a check of its own, or none', () => {
  const filter = { owner: 'X-Engine-User-Id' };
  expect(update({ filter }).access.update).toMatchObject({ filter: { kind: 'compare' }, check: TRUE });
  expect(update({ filter, check: null }).access.update!.check).toBe(TRUE);
  expect(update({ filter, check: { total: { _gt: 0 } } }).access.update!.check).toMatchObject({
    left: { column: 'total' },
  });
});

test('backend_only is kept', () => {
  expect(insert({ backend_only: true }).access.insert!.backendOnly).toBe(true);
  const { access } = permit({
    delete_permissions: [{ role: 'user', permission: { filter: { id: 1 }, backend_only: true } }],
  });
  expect(access.delete).toMatchObject({ backendOnly: true, filter: { kind: 'compare' } });
});

test('a role has only what it was given, and no role has another’s', () => {
  const { access, resolved } = select({});
  expect([access.insert, access.update, access.delete]).toEqual([null, null, null]);
  expect(accessOf(resolved, 'guest')).toEqual({ select: null, insert: null, update: null, delete: null });
});

test('what the database cannot do no permission allows', () => {
  const rule = { columns: '*' as const, filter: {} };
  const { access, resolved, reasons } = permit(
    {
      select_permissions: [{ role: 'user', permission: rule }],
      insert_permissions: [{ role: 'user', permission: { check: {} } }],
      update_permissions: [{ role: 'user', permission: rule }],
      delete_permissions: [{ role: 'user', permission: { filter: {} } }],
    },
    'totals',
  );
  expect(reasons).toEqual([]);
  expect(access).toMatchObject({ select: {}, insert: null, update: null, delete: null });
  expect(accessOf(resolved, 'admin')).toMatchObject({ select: {}, insert: null, update: null, delete: null });
});

test('the administrator may do everything the database can, whatever permissions say', () => {
  const { resolved } = permit({
    select_permissions: [{ role: 'admin', permission: { columns: [], filter: { id: 1 } } }],
  });
  const access = accessOf(resolved, 'admin');
  expect(access.select).toMatchObject({ filter: TRUE, limit: null, allowsAggregation: true });
  expect([...access.select!.columns]).toEqual(['id', 'owner', 'total', 'secret', 'doubled']);
  expect([...access.insert!.columns]).toEqual(['owner', 'total', 'secret']);
  expect(accessOf(resolved, 'admin')).toBe(access);
});

test('an inconsistent permission gives nothing and says why', () => {
  const { access, inconsistencies } = select({ columns: ['id', 'nope'] });
  expect(access.select).toBeNull();
  expect(inconsistencies).toMatchObject([
    {
      type: 'select_permission',
      name: 'select_permission user in table order in source default',
      reason:
        'Inconsistent object: in table "order": in permission for role "user": column "nope" does not exist',
      definition: {
        role: 'user',
        permission: { columns: ['id', 'nope'], filter: {} },
        source: 'default',
        comment: null,
        table: { schema: 'public', name: 'order' },
      },
      key: 'select_permission/default/public/order/user',
    },
  ]);
  const { cause } = inconsistencies[0]!;
  expect([cause!.codeIn('specification'), cause!.messageIn('specification')]).toEqual([
    'not-exists',
    'nope does not exist',
  ]);
});

test.for([
  ['a column', () => select({ columns: ['id', 'nope'] }), '$.permission.columns[1]'],
  ['a filter', () => select({ filter: { total: { _gt: true } } }), '$.permission.filter.total._gt'],
  ['a check', () => insert({ check: { nope: 1 } }), '$.permission.check.nope'],
  ['an update’s check', () => update({ check: { nope: 1 } }), '$.permission.check.nope'],
  ['a preset’s column', () => insert({ set: { nope: 1 } }), '$.permission.set.nope'],
  ['a preset’s value', () => update({ set: { total: true } }), '$.permission.set.total'],
  ['a preset of a generated column', () => insert({ set: { doubled: 1 } }), '$.permission.set.doubled'],
  [
    'a computed field nobody declared',
    () => select({ computed_fields: ['x'] }),
    '$.permission.computed_fields[0]',
  ],
  [
    'a webhook with a header that has no value',
    () =>
      insert({ validate_input: { type: 'http', definition: { url: 'http://x', headers: [{ name: 'a' }] } } }),
    '$.permission.validate_input.definition.headers[0]',
  ],
] as const)('%s that is wrong is told with its place', ([, make, path]) => {
  const { inconsistencies, access } = make();
  expect(inconsistencies.map((i) => printPath(i.cause!.path))).toEqual([path]);
  expect([access.select, access.insert, access.update, access.delete]).toEqual([null, null, null, null]);
});

test('keys are spelled so that any role fits into one', () => {
  const { inconsistencies } = permit({
    select_permissions: [{ role: 'a/b c', permission: { columns: ['nope'], filter: {} } }],
  });
  expect(inconsistencies[0]!.key).toBe('select_permission/default/public/order/a%2Fb%20c');
});
