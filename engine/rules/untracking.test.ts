/** Untracking a table that other objects lead to, and dropping a computed field that others use: they refuse it by name, and with `cascade`
 *  they are removed with it, and nothing else. The cases are generated from the kinds of objects that lead to a table.
 *  Rule: docs/reference/behaviour/metadata.md, "Dependencies". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const SQL = `
  create table target (id int primary key);
  create table owner (id int primary key, target_id int references target, name text);
  create function listed() returns setof target language sql stable as $$ select * from target $$;
  create function targets(o owner) returns setof target language sql stable as $$ select * from target $$;
  create function label(o owner) returns text language sql stable as $$ select o.name $$;
`;

let world: RuleWorld;
let document: unknown;
beforeAll(async () => {
  world = await startWorld({
    sql: SQL,
    tables: ['target', 'owner'],
    operations: [
      ['pg_add_computed_field', { table: 'owner', name: 'label', definition: { function: 'label' } }],
      [
        'pg_create_select_permission',
        {
          table: 'owner',
          role: 'other',
          permission: { columns: ['id'], computed_fields: ['label'], filter: {} },
        },
      ],
    ],
  });
  document = await exported();
});
afterAll(() => world.close());

const on = (type: string, args: unknown) => adminOutcome(world.engine, type, args);
const exported = async () => (await world.engine.admin('export_metadata', {})).body;

const read = (filter: object) => [
  'pg_create_select_permission',
  { table: 'owner', role: 'reader', permission: { columns: ['id'], filter } },
];
const OBJECT = [
  'pg_create_object_relationship',
  { table: 'owner', name: 'target', using: { foreign_key_constraint_on: 'target_id' } },
];
const FIELD = [
  'pg_add_computed_field',
  { table: 'owner', name: 'targets', definition: { function: 'targets' } },
];
const REMOTE = [
  'pg_create_remote_relationship',
  {
    table: 'owner',
    name: 'far',
    definition: {
      to_source: {
        source: 'default',
        table: 'target',
        relationship_type: 'object',
        field_mapping: { target_id: 'id' },
      },
    },
  },
];
const FUNCTION = ['pg_track_function', { function: 'listed' }];
const relationship = 'relationship owner.target in source "default"';
const remote = 'remote relationship owner.far in source "default"';
const permission = 'permission owner.reader.select in source "default"';
const field = 'computed field owner.targets in source "default"';
const fn = 'function listed in source "default"';

/** Operations that create objects which lead to the table, and the dependents that a message lists. */
const CASES = [
  ['a relationship over a foreign key', [OBJECT], relationship],
  [
    'a manual relationship',
    [
      [
        'pg_create_array_relationship',
        {
          table: 'owner',
          name: 'target',
          using: { manual_configuration: { remote_table: 'target', column_mapping: { target_id: 'id' } } },
        },
      ],
    ],
    relationship,
  ],
  [
    'a permission through a relationship',
    [OBJECT, read({ target: { id: 1 } })],
    `${permission}, ${relationship}`,
  ],
  ['a permission under _exists', [read({ _exists: { _table: 'target', _where: {} } })], permission],
  ['a remote relationship', [REMOTE], remote],
  [
    'a permission through a remote relationship',
    [REMOTE, read({ far: { id: { _eq: 1 } } })],
    `${permission}, ${remote}`,
  ],
  ['a function that returns its rows', [FUNCTION], fn],
  ['a computed field that returns its rows', [FIELD], field],
  ['a function and a computed field', [FUNCTION, FIELD], `${field}, ${fn}`],
  [
    'a custom type',
    [
      [
        'set_custom_types',
        {
          objects: [
            {
              name: 'Out',
              fields: [{ name: 'id', type: 'Int' }],
              relationships: [
                { name: 'target', type: 'object', remote_table: 'target', field_mapping: { id: 'id' } },
              ],
            },
          ],
        },
      ],
    ],
    'custom type Out',
  ],
] as const;

describe.each(CASES)('%s', (_what, operations, dependents) => {
  test('refuses untracking, and goes with cascade', async () => {
    for (const [type, args] of operations) {
      expect(await on(type as string, args)).toEqual({ data: { message: 'success' } });
    }
    expect(await on('pg_untrack_table', { table: 'target' })).toEqual({
      code: 'dependency-error',
      path: '$.args',
      message: `cannot drop due to the following dependent objects: ${dependents}`,
    });
    const cascade = { data: { message: 'success' } };
    expect(await on('pg_untrack_table', { table: 'target', cascade: true })).toEqual(cascade);
    expect(await on('pg_track_table', { table: 'target' })).toEqual(cascade);
    expect(await exported()).toEqual(document);
  });
});

test('a remote relationship that joins by a computed field goes with the field', async () => {
  const definition = {
    to_source: {
      source: 'default',
      table: 'owner',
      relationship_type: 'array',
      field_mapping: { other_label: 'name' },
    },
  };
  const create = [
    ['pg_add_computed_field', { table: 'owner', name: 'other_label', definition: { function: 'label' } }],
    ['pg_create_remote_relationship', { table: 'owner', name: 'far', definition }],
  ] as const;
  for (const [type, args] of create) expect(await on(type, args)).toEqual({ data: { message: 'success' } });
  const field = { table: 'owner', name: 'other_label' };
  expect(await on('pg_drop_computed_field', field)).toEqual({
    code: 'dependency-error',
    path: '$.args',
    message: `cannot drop due to the following dependent objects: ${remote}`,
  });
  expect(await on('pg_drop_computed_field', { ...field, cascade: true })).toMatchObject({ data: {} });
  expect(await exported()).toEqual(document);
});
