/** Tests which rows and cells a mutation returns: the rows it wrote, whether or not the role may read them, with the columns of the
 *  select permission; related rows keep their filters. With --strict-returning, only rows the role may read. Reference:
 *  docs/reference/behaviour/mutations.md. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const READ = { id: { _lt: 100 }, is_deleted: { _eq: false } };
const columns = ['id', 'title', 'is_deleted', 'owner_id'];
let world: RuleWorld;
let strict: TestEngine;

beforeAll(async () => {
  world = await startWorld({
    sql: `create table owner (id int primary key, name text);
      create table note (id int primary key, title text, secret text default 'hidden', is_deleted bool default false,
        owner_id int references owner);
      insert into owner values (1, 'seen'), (2, 'unseen')`,
    tables: ['owner', 'note'],
    operations: [
      [
        'pg_create_object_relationship',
        { table: 'note', name: 'owner', using: { foreign_key_constraint_on: 'owner_id' } },
      ],
      [
        'pg_create_select_permission',
        { table: 'owner', role: 'user', permission: { columns: '*', filter: { name: { _eq: 'seen' } } } },
      ],
      ['pg_create_select_permission', { table: 'note', role: 'user', permission: { columns, filter: READ } }],
      ['pg_create_insert_permission', { table: 'note', role: 'user', permission: { columns, check: {} } }],
      ['pg_create_update_permission', { table: 'note', role: 'user', permission: { columns, filter: {} } }],
      ['pg_create_delete_permission', { table: 'note', role: 'user', permission: { filter: {} } }],
    ],
  });
  strict = await startTestEngine({
    databaseUrl: world.database.url,
    adminSecret: world.engine.adminSecret,
    strictReturning: true,
  });
});
afterAll(async () => {
  await strict?.close();
  await world?.close();
});
/** Row 1 is readable, row 100 is not. */
beforeEach(() =>
  world.database.sql(`truncate note; insert into note values
  (1, 'a', 'x', false, 1), (100, 'b', 'y', false, 2)`),
);

type Written = { readonly id: number; readonly isReadable: boolean };
const one = (id: number, isReadable: boolean): Written => ({ id, isReadable });
const hide = '_set: {is_deleted: true}';

/** Each writes one row, named `row`. `isReadable` says whether the role may read the row as it is written. */
const MUTATIONS: readonly (readonly [name: string, mutation: (fields: string) => string, Written])[] = [
  ['insert', (f) => `row: insert_note(objects: {id: 2}) { returning { ${f} } }`, one(2, true)],
  ['insert, unseen', (f) => `row: insert_note(objects: {id: 200}) { returning { ${f} } }`, one(200, false)],
  ['insert one, unseen', (f) => `row: insert_note_one(object: {id: 200}) { ${f} }`, one(200, false)],
  [
    'update',
    (f) => `row: update_note(where: {id: {_eq: 1}}, _set: {title: "n"}) { returning { ${f} } }`,
    one(1, true),
  ],
  [
    'update that hides',
    (f) => `row: update_note(where: {id: {_eq: 1}}, ${hide}) { returning { ${f} } }`,
    one(1, false),
  ],
  [
    'update of an unseen row',
    (f) => `row: update_note(where: {id: {_eq: 100}}, ${hide}) { returning { ${f} } }`,
    one(100, false),
  ],
  [
    'update by key that hides',
    (f) => `row: update_note_by_pk(pk_columns: {id: 1}, ${hide}) { ${f} }`,
    one(1, false),
  ],
  [
    'update many that hides',
    (f) => `row: update_note_many(updates: [{where: {id: {_eq: 1}}, ${hide}}]) { returning { ${f} } }`,
    one(1, false),
  ],
  ['delete', (f) => `row: delete_note(where: {id: {_eq: 1}}) { returning { ${f} } }`, one(1, true)],
  [
    'delete of an unseen row',
    (f) => `row: delete_note(where: {id: {_eq: 100}}) { returning { ${f} } }`,
    one(100, false),
  ],
  ['delete by key, unseen', (f) => `row: delete_note_by_pk(id: 100) { ${f} }`, one(100, false)],
  [
    'upsert of an unseen row',
    (f) =>
      `row: insert_note_one(object: {id: 100, title: "n"}, on_conflict: {constraint: note_pkey, update_columns: [title]}) { ${f} }`,
    one(100, false),
  ],
];

/** Returns the rows of an answer, whichever the field. */
function rowsOf(outcome: object): unknown[] {
  const { row } = (outcome as { data: { row: unknown } }).data;
  const list = Array.isArray(row) ? row : [row];
  return list.flatMap((each) =>
    each && 'returning' in (each as object)
      ? (each as { returning: unknown[] }).returning
      : each === null
        ? []
        : [each],
  );
}

describe.each(MUTATIONS)('%s', (_, mutation, { id, isReadable }) => {
  const send = (engine: TestEngine, fields: string) =>
    graphqlOutcome(engine, `mutation { ${mutation(fields)} }`, { role: 'user' });

  test('returns the row it wrote', async () => {
    expect(rowsOf(await send(world.engine, 'id'))).toEqual([{ id }]);
  });

  test('returns, with --strict-returning, only a row the role may read', async () => {
    expect(rowsOf(await send(strict, 'id'))).toEqual(isReadable ? [{ id }] : []);
  });

  test('returns no column the role may not read', async () => {
    expect(await send(world.engine, 'secret')).toMatchObject({
      code: 'validation-failed',
      message: "field 'secret' not found in type: 'note'",
    });
  });

  test('returns related rows within their filter', async () => {
    const [row] = rowsOf(await send(world.engine, 'owner_id owner { name }')) as {
      owner_id: number | null;
      owner: unknown;
    }[];
    expect(row?.owner).toEqual(row?.owner_id === 1 ? { name: 'seen' } : null);
  });
});

test('a query after the mutation does not see the row that is not readable', async () => {
  await graphqlOutcome(world.engine, `mutation { update_note_by_pk(pk_columns: {id: 1}, ${hide}) { id } }`, {
    role: 'user',
  });
  expect(await graphqlOutcome(world.engine, '{ note { id } }', { role: 'user' })).toEqual({
    data: { note: [] },
  });
});

test('/v1/query returns the rows it wrote as well', async () => {
  const send = (engine: TestEngine) =>
    engine.admin(
      'update',
      { table: 'note', where: { id: 1 }, $set: { is_deleted: true }, returning: ['id'] },
      {
        endpoint: '/v1/query',
        headers: { 'x-engine-role': 'user' },
      },
    );
  expect((await send(world.engine)).body).toEqual({ affected_rows: 1, returning: [{ id: 1 }] });
  expect((await send(strict)).body).toEqual({ affected_rows: 1, returning: [] });
});
