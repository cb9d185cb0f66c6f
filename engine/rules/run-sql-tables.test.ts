/** Columns and tables that metadata uses and `run_sql` renames, drops or gives another type. The cases are generated from users of a
 *  column, changes and options. A rename is followed; a drop is refused with the users, or drops them with `cascade`; another type is
 *  refused while a rule compares the column with a fixed value, also with `cascade`.
 *  Rule: docs/reference/behaviour/metadata-api.md, "run_sql". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const SQL = `
  create table owner (id int primary key, name text);
  create table item (id int primary key, owner_id int constraint item_owner references owner, tag text, note text);
`;

type User = {
  readonly what: string;
  readonly operation: readonly [type: string, args: object];
  /** How messages name it. */
  readonly named: string;
  /** The column of `item` that it uses. */
  readonly column: 'tag' | 'owner_id';
  /** True when it compares the column with a fixed value. */
  readonly fixes?: true;
};

const item = { table: 'item', role: 'u' };
const ofPermission = (type: string) => `permission item.u.${type} in source "default"`;
const USERS: readonly User[] = [
  {
    what: 'columns of a select permission',
    operation: [
      'pg_create_select_permission',
      { ...item, permission: { columns: ['id', 'tag'], filter: {} } },
    ],
    named: ofPermission('select'),
    column: 'tag',
  },
  {
    what: 'filter of a select permission',
    operation: [
      'pg_create_select_permission',
      { ...item, permission: { columns: ['id'], filter: { tag: { _eq: 'a' } } } },
    ],
    named: ofPermission('select'),
    column: 'tag',
    fixes: true,
  },
  {
    what: 'filter with a session variable',
    operation: [
      'pg_create_select_permission',
      { ...item, permission: { columns: ['id'], filter: { _or: [{ tag: { _eq: 'X-Engine-Tag' } }] } } },
    ],
    named: ofPermission('select'),
    column: 'tag',
  },
  {
    what: 'check of an insert permission',
    operation: [
      'pg_create_insert_permission',
      { ...item, permission: { columns: '*', check: { _not: { tag: { _eq: 'a' } } } } },
    ],
    named: ofPermission('insert'),
    column: 'tag',
    fixes: true,
  },
  {
    what: 'preset of an insert permission',
    operation: [
      'pg_create_insert_permission',
      { ...item, permission: { columns: ['id'], check: {}, set: { tag: 'a' } } },
    ],
    named: ofPermission('insert'),
    column: 'tag',
    fixes: true,
  },
  {
    what: 'columns of an update permission',
    operation: ['pg_create_update_permission', { ...item, permission: { columns: ['tag'], filter: {} } }],
    named: ofPermission('update'),
    column: 'tag',
  },
  {
    what: 'filter of a delete permission',
    operation: [
      'pg_create_delete_permission',
      { ...item, permission: { filter: { tag: { _is_null: true } } } },
    ],
    named: ofPermission('delete'),
    column: 'tag',
  },
  {
    what: 'object relationship',
    operation: [
      'pg_create_object_relationship',
      { table: 'item', name: 'its_owner', using: { foreign_key_constraint_on: 'owner_id' } },
    ],
    named: 'relationship item.its_owner in source "default"',
    column: 'owner_id',
  },
  {
    what: 'array relationship of another table',
    operation: [
      'pg_create_array_relationship',
      {
        table: 'owner',
        name: 'items',
        using: { foreign_key_constraint_on: { table: 'item', column: 'owner_id' } },
      },
    ],
    named: 'relationship owner.items in source "default"',
    column: 'owner_id',
  },
  {
    what: 'manual relationship',
    operation: [
      'pg_create_object_relationship',
      {
        table: 'item',
        name: 'made',
        using: { manual_configuration: { remote_table: 'owner', column_mapping: { owner_id: 'id' } } },
      },
    ],
    named: 'relationship item.made in source "default"',
    column: 'owner_id',
  },
  {
    what: 'event trigger',
    operation: [
      'pg_create_event_trigger',
      { table: 'item', name: 'watch', webhook: 'http://127.0.0.1:1', update: { columns: ['tag'] } },
    ],
    named: 'event-trigger item.watch in source "default"',
    column: 'tag',
  },
];

const TYPES = { tag: 'varchar(9)', owner_id: 'bigint' } as const;

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({ sql: SQL, tables: ['owner', 'item'] });
});
afterAll(() => world.close());

type Exported = { sources: { tables: unknown[] }[] };
const exported = async (): Promise<string> =>
  JSON.stringify((await world.engine.admin<Exported>('export_metadata', {})).body.sources[0]!.tables);

/** Runs the SQL with one user in the metadata, and returns the refusal, or the tables of the metadata after it. */
async function outcomeOf({ operation: [type, args] }: User, sql: string, options: object): Promise<object> {
  const { engine, database } = world;
  const metadata = (await engine.admin('export_metadata', {})).body;
  expect(await adminOutcome(engine, type, args)).toEqual({ data: { message: 'success' } });
  const outcome = await adminOutcome(engine, 'run_sql', { sql, ...options });
  const tables = await exported();
  await engine.admin('replace_metadata', { metadata, allow_inconsistent_metadata: true }, { version: 2 });
  if ('data' in outcome) {
    await database.sql(`drop schema public cascade; create schema public; ${SQL}`);
    expect((await engine.admin('reload_metadata', {})).body).toMatchObject({ is_consistent: true });
  }
  return 'data' in outcome
    ? { tables }
    : { code: outcome.code, path: outcome.path, message: outcome.message };
}

const dropped = (users: string) => ({
  code: 'dependency-error',
  path: '$.args',
  message: `cannot drop due to the following dependent objects: ${users}`,
});

describe.each(USERS)('$what', (user) => {
  const {
    column,
    named,
    operation: [, args],
  } = user;
  const own = 'name' in args ? String(args.name) : '"role":"u"';
  test.each([{}, { cascade: true }])('follows a renamed column with %j', async (options) => {
    const outcome = await outcomeOf(user, `alter table item rename ${column} to other`, options);
    expect(outcome).toEqual({ tables: expect.stringContaining('"other"') });
    expect((outcome as { tables: string }).tables).not.toContain(`"${column}"`);
  });
  test.each([{}, { cascade: true }])('follows a renamed table with %j', async (options) => {
    const outcome = await outcomeOf(user, 'alter table item rename to thing', options);
    expect(outcome).toEqual({ tables: expect.stringContaining('"thing"') });
    expect((outcome as { tables: string }).tables).not.toContain('"item"');
    expect((outcome as { tables: string }).tables).toContain(own);
  });
  test('refuses that its column is dropped', async () => {
    expect(await outcomeOf(user, `alter table item drop ${column}`, {})).toEqual(dropped(named));
  });
  test('is dropped with its column by cascade', async () => {
    const outcome = (await outcomeOf(user, `alter table item drop ${column}`, { cascade: true })) as {
      tables: string;
    };
    expect(outcome.tables).not.toContain(own);
    expect(outcome.tables).toContain('"item"');
  });
  test.each([{}, { cascade: true }])('and another type of its column with %j', async (options) => {
    const outcome = await outcomeOf(user, `alter table item alter ${column} type ${TYPES[column]}`, options);
    if (user.fixes) {
      const message = `cannot change type of column "${column}" in table "item" because of the following dependencies: ${named}`;
      expect(outcome).toEqual({ code: 'dependency-error', path: '$.args', message });
    } else {
      expect(outcome).toEqual({ tables: expect.stringContaining(own) });
    }
  });
  test('stays when another column is dropped, or everything is unchecked', async () => {
    expect(await outcomeOf(user, 'alter table item drop note', {})).toEqual({
      tables: expect.stringContaining(own),
    });
    const unchecked = { check_metadata_consistency: false };
    expect(await outcomeOf(user, `alter table item drop ${column}`, unchecked)).toEqual({
      tables: expect.stringContaining(own),
    });
  });
});
