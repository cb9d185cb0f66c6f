/** Objects of a stored document that cannot be parsed. The damage is generated: each object of a valid document, damaged in each way. */
import { expect, test } from 'vitest';
import type { JsonRecord } from '../json/value.ts';
import { separateDamaged, stillDamaged, withDamaged } from './damaged.ts';

const permission = (role: string) => ({ role, permission: { columns: ['id'], filter: {} } });
const source = (name: string) => ({
  name,
  kind: 'postgres',
  configuration: { connection_info: { database_url: 'postgres://host/db' } },
  tables: [
    { table: { schema: 'public', name: 'author' }, select_permissions: [permission('a'), permission('b')] },
    { table: { schema: 'public', name: 'book' } },
  ],
});
const valid = {
  version: 3,
  sources: [source('one'), source('two')],
  inherited_roles: [{ role_name: 'both', role_set: ['a', 'b'] }],
  cron_triggers: [
    { name: 'nightly', webhook: 'http://host', schedule: '0 0 * * *', include_in_metadata: true },
  ],
};

type Path = readonly (string | number)[];
const put = (value: unknown, [step, ...rest]: Path, leaf: unknown): unknown => {
  if (step === undefined) return leaf;
  if (Array.isArray(value)) return value.with(Number(step), put(value[Number(step)], rest, leaf));
  return { ...(value as JsonRecord), [step]: put((value as JsonRecord)[step], rest, leaf) };
};

/** The path of each damaged value, and the key of the object that is then damaged. */
const DAMAGES: readonly (readonly [path: Path, key: string])[] = [
  [['sources'], 'sources'],
  [['sources', 0, 'configuration'], 'source/one'],
  [['sources', 1, 'tables'], 'tables'],
  [['sources', 1, 'tables', 0, 'select_permissions'], 'select_permissions'],
  [
    ['sources', 0, 'tables', 0, 'select_permissions', 1, 'permission'],
    'select_permission/one/public/author/b',
  ],
  [
    ['sources', 0, 'tables', 0, 'select_permissions', 0, 'permission', 'columns', 0],
    'select_permission/one/public/author/a',
  ],
  [['sources', 0, 'tables', 1], 'tables'],
  [['cron_triggers', 0, 'schedule'], 'cron_trigger/nightly'],
  [['inherited_roles', 0, 'role_set'], 'inherited_role/both'],
];
const WRONG: readonly unknown[] = [5, true, { unknown: 'key' }];

test.each(DAMAGES.flatMap(([path, key]) => WRONG.map((wrong) => ({ path, key, wrong }))))(
  '$path damaged as $wrong sets $key aside and is put back unchanged',
  ({ path, key, wrong }) => {
    const stored = put(valid, path, wrong) as JsonRecord;
    const { document, damaged } = separateDamaged(stored);
    expect(damaged.map((object) => object.key)).toEqual([key]);
    expect(withDamaged(document, damaged)).toEqual(stored);
    expect(stillDamaged(document, damaged)).toBe(damaged);
    // An object without a name stays until the whole document is replaced.
    expect(stillDamaged(valid, damaged)).toEqual(path.at(-1) === 1 ? damaged : []);
  },
);

test('a cycle of roles sets one role aside', () => {
  const role = (role_name: string, ...role_set: string[]) => ({ role_name, role_set });
  const stored = {
    ...valid,
    inherited_roles: [role('x', 'y', 'a'), role('y', 'x', 'a'), role('z', 'a', 'b')],
  };
  const { document, damaged } = separateDamaged(stored);
  expect(damaged.map(({ key }) => key)).toEqual(['inherited_role/x']);
  expect(withDamaged(document, damaged)).toEqual(stored);
});

test('several damaged objects are put back at their positions', () => {
  const broken = DAMAGES.slice(4, 8).reduce<unknown>(
    (next, [path]) => put(next, path, 5),
    valid,
  ) as JsonRecord;
  const { document, damaged } = separateDamaged(broken);
  expect(damaged.length).toBeGreaterThan(2);
  expect(withDamaged(document, damaged)).toEqual(broken);
});

test.each(['api_limits', 'graphql_schema_introspection'])(
  'a damaged %s, which restricts, is not set aside',
  (key) => {
    expect(() => separateDamaged({ ...valid, [key]: 5 })).toThrow();
  },
);

test.each([null, 5, [], 'text'])('%j is no document', (value) => {
  expect(() => separateDamaged(value)).toThrow();
});
