/** Objects beside tables that name a table or a column of it, and renames: of the table, of the column, and of the source. The document
 *  afterwards is the document before with the new name everywhere. The cases are generated from users of a table.
 *  Rule: docs/reference/behaviour/metadata-api.md, "run_sql" and "Sources". Users inside tables: run-sql-tables.test.ts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const SQL = `
  create table item (id int primary key, tag int);
  create table owner (id int primary key, tag int);
  create function items(o owner) returns setof item language sql stable as $$ select * from item where tag = o.tag $$;
  create function all_items() returns setof item language sql stable as $$ select * from item $$;
`;

const toItem = {
  to_source: {
    source: 'default',
    table: 'item',
    relationship_type: 'array',
    field_mapping: { id: 'tag' },
  },
};
const throughFar = { columns: ['id'], filter: { _or: [{ far: { tag: { _eq: 1 } } }, { id: { _gt: 1 } }] } };
const OWNERS = [
  ['pg_track_logical_model', { name: 'row', fields: [{ name: 'key', type: 'integer' }] }],
] as const;
const USERS = [
  [
    'a relationship of a custom type',
    [
      [
        'set_custom_types',
        {
          objects: [
            {
              name: 'Out',
              fields: [{ name: 'key', type: 'Int' }],
              relationships: [
                {
                  name: 'its',
                  type: 'array',
                  source: 'default',
                  remote_table: 'item',
                  field_mapping: { key: 'tag' },
                },
              ],
            },
          ],
        },
      ],
      [
        'create_action',
        {
          name: 'act',
          definition: { type: 'query', handler: 'http://127.0.0.1:1', output_type: 'Out' },
        },
      ],
    ],
  ],
  [
    'a relationship of a native query',
    [
      ...OWNERS,
      [
        'pg_track_native_query',
        {
          root_field_name: 'native',
          code: 'select 1 as key',
          returns: 'row',
          array_relationships: [
            { name: 'its', using: { remote_table: 'item', column_mapping: { key: 'tag' } } },
          ],
        },
      ],
    ],
  ],
  [
    'a permission of a logical model',
    [
      ...OWNERS,
      [
        'pg_create_logical_model_select_permission',
        {
          name: 'row',
          role: 'u',
          permission: {
            columns: ['key'],
            filter: { _exists: { _table: { schema: 'public', name: 'item' }, _where: { tag: 1 } } },
          },
        },
      ],
    ],
  ],
  [
    'the response of a function',
    [
      [
        'pg_track_function',
        {
          function: 'all_items',
          configuration: { response: { type: 'table', table: { schema: 'public', name: 'item' } } },
        },
      ],
    ],
  ],
  [
    'a permission through a computed field',
    [
      ['pg_add_computed_field', { table: 'owner', name: 'its', definition: { function: 'items' } }],
      [
        'pg_create_select_permission',
        { table: 'owner', role: 'u', permission: { columns: ['id'], filter: { its: { tag: 1 } } } },
      ],
    ],
  ],
  [
    'a permission through a remote relationship',
    [
      ['pg_create_remote_relationship', { table: 'owner', name: 'far', definition: toItem }],
      ['pg_create_select_permission', { table: 'owner', role: 'u', permission: throughFar }],
    ],
  ],
] as const;

let world: RuleWorld;
let empty: unknown;
beforeAll(async () => {
  world = await startWorld({ sql: SQL, tables: ['item', 'owner'] });
  empty = await exported();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.database.sql(`drop schema public cascade; create schema public; ${SQL}`);
  await on('replace_metadata', empty);
  await on('reload_metadata', {});
});

const exported = async () => (await world.engine.admin('export_metadata', {})).body;
const on = (type: string, args: unknown) => adminOutcome(world.engine, type, args);
const SUCCESS = { data: { message: 'success' } };

describe.each(USERS)('%s', (_what, operations) => {
  test.each([
    ['the table', 'run_sql', { sql: 'alter table item rename to jar' }, 'item', 'jar'],
    ['the source', 'rename_source', { name: 'default', new_name: 'main' }, 'default', 'main'],
  ] as const)('follows another name of %s', async (_object, type, args, from, to) => {
    for (const [create, of] of operations) expect(await on(create as string, of)).toEqual(SUCCESS);
    const before = JSON.stringify(await exported());
    expect(await on(type, args)).toMatchObject({ data: {} });
    expect(JSON.stringify(await exported())).toBe(before.replaceAll(`"${from}"`, `"${to}"`));
  });
  test('follows another name of the column', async () => {
    for (const [create, of] of operations) expect(await on(create as string, of)).toEqual(SUCCESS);
    const before = JSON.stringify(await exported());
    const sql = 'alter table item rename column tag to label';
    expect(await on('run_sql', { sql })).toMatchObject({ data: { result_type: 'CommandOk' } });
    expect(JSON.stringify(await exported())).toBe(before.replaceAll('"tag"', '"label"'));
  });
});

test('a relationship of a custom type that names no source leads to the source under its new name', async () => {
  const relationships = [{ name: 'its', type: 'array', remote_table: 'item', field_mapping: { key: 'tag' } }];
  const objects = [{ name: 'Out', fields: [{ name: 'key', type: 'Int' }], relationships }];
  expect(await on('set_custom_types', { objects })).toEqual(SUCCESS);
  expect(await on('rename_source', { name: 'default', new_name: 'main' })).toEqual(SUCCESS);
  expect(await exported()).toMatchObject({
    custom_types: { objects: [{ relationships: [{ source: 'main' }] }] },
  });
});

test.each([
  [
    'a permission of a logical model',
    [
      ...OWNERS,
      [
        'pg_create_logical_model_select_permission',
        {
          name: 'row',
          role: 'u',
          permission: {
            columns: ['key'],
            filter: { _exists: { _table: { schema: 'public', name: 'item' }, _where: { back: { id: 1 } } } },
          },
        },
      ],
    ],
  ],
  [
    'a permission through a computed field',
    [
      ['pg_add_computed_field', { table: 'owner', name: 'its', definition: { function: 'items' } }],
      [
        'pg_create_select_permission',
        { table: 'owner', role: 'u', permission: { columns: ['id'], filter: { its: { back: { id: 1 } } } } },
      ],
    ],
  ],
] as const)('%s follows another name of a relationship', async (_what, operations) => {
  const manual_configuration = { remote_table: 'owner', column_mapping: { tag: 'tag' } };
  const relationship = { table: 'item', name: 'back', using: { manual_configuration } };
  expect(await on('pg_create_object_relationship', relationship)).toEqual(SUCCESS);
  for (const [create, of] of operations) expect(await on(create as string, of)).toEqual(SUCCESS);
  const before = JSON.stringify(await exported());
  const rename = { table: 'item', name: 'back', new_name: 'again' };
  expect(await on('pg_rename_relationship', rename)).toEqual(SUCCESS);
  expect(JSON.stringify(await exported())).toBe(before.replaceAll('"back"', '"again"'));
});

test('a permission of another source follows, and its own names stay', async () => {
  const connection_info = { database_url: world.database.url };
  const customization = { root_fields: { prefix: 'far_' }, type_names: { prefix: 'far_' } };
  const other = { source: 'other', table: 'owner' };
  for (const [type, args] of [
    ['pg_add_source', { name: 'other', configuration: { connection_info }, customization }],
    ['pg_track_table', other],
    ['pg_create_remote_relationship', { ...other, name: 'far', definition: toItem }],
    [
      'pg_create_select_permission',
      {
        ...other,
        role: 'u',
        permission: { columns: ['tag'], filter: { tag: { _gt: 1 }, far: { tag: { _eq: 1 } } } },
      },
    ],
  ] as const) {
    expect(await on(type, args)).toEqual(SUCCESS);
  }
  expect(await on('run_sql', { sql: 'alter table item rename column tag to label' })).toMatchObject({
    data: {},
  });
  const { sources } = (await exported()) as { sources: { tables: object[] }[] };
  expect(sources[1]!.tables).toMatchObject([
    {
      remote_relationships: [{ definition: { to_source: { field_mapping: { id: 'label' } } } }],
      select_permissions: [
        { permission: { columns: ['tag'], filter: { tag: { _gt: 1 }, far: { label: { _eq: 1 } } } } },
      ],
    },
  ]);
});
