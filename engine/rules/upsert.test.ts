/** Tests who may write `on_conflict`, and what it refuses: a role that may update no column has only a placeholder among the columns
 *  to update, which is refused, and may leave conflicting rows alone. Reference: docs/reference/behaviour/mutations.md. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { graphqlOutcome, NOTES_OF_OWNER, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
const insert = { columns: '*', check: {} };
const permit = (kind: string, table: string, role: string, permission: object) =>
  [`pg_create_${kind}_permission`, { table, role, permission }] as const;

beforeAll(async () => {
  world = await startWorld({
    sql: `create table owner (id int primary key);
      create table note (id int primary key, text text unique, owner_id int references owner)`,
    tables: ['owner', 'note'],
    operations: [
      NOTES_OF_OWNER,
      ...['inserter', 'empty', 'writer'].flatMap((role) => [
        permit('insert', 'note', role, insert),
        permit('insert', 'owner', role, insert),
        permit('select', 'note', role, { columns: ['id', 'text'], filter: {} }),
      ]),
      permit('update', 'note', 'empty', { columns: [], filter: {} }),
      permit('update', 'note', 'writer', { columns: ['text'], filter: {} }),
    ],
  });
});
afterAll(() => world?.close());
beforeEach(() => world.database.sql(`truncate note, owner; insert into note values (1, 'old')`));

/** The fields that take `on_conflict` for rows of `note`, each with the path of that argument. */
const FIELDS: readonly (readonly [name: string, mutation: (conflict: string) => string, path: string])[] = [
  [
    'insert',
    (c) => `insert_note(objects: [{id: 1, text: "new"}], ${c}) { affected_rows }`,
    '$.selectionSet.insert_note.args.on_conflict',
  ],
  [
    'insert one',
    (c) => `insert_note_one(object: {id: 1, text: "new"}, ${c}) { id }`,
    '$.selectionSet.insert_note_one.args.on_conflict',
  ],
  [
    'nested insert',
    (c) => `insert_owner(objects: [{id: 1, notes: {data: [{id: 1, text: "new"}], ${c}}}]) { affected_rows }`,
    '$.selectionSet.insert_owner.args.objects[0].notes.on_conflict',
  ],
];
const send = (role: string, mutation: string, variables = {}, declared = '') =>
  graphqlOutcome(world.engine, `mutation ${declared} { ${mutation} }`, { role, variables });
const texts = async () => (await world.database.sql('select text from note')).map(({ text }) => text);

describe.each(FIELDS)('%s', (_, mutation, path) => {
  const conflict = (update: string) => `on_conflict: {constraint: note_pkey, update_columns: ${update}}`;

  test.each(['inserter', 'empty'])('refuses the placeholder to %s, and writes nothing', async (role) => {
    const refusal = { code: 'validation-failed', path, message: 'erroneous column name' };
    for (const update of ['[_PLACEHOLDER]', '_PLACEHOLDER', '[_PLACEHOLDER, _PLACEHOLDER]']) {
      expect(await send(role, mutation(conflict(update)))).toEqual(refusal);
    }
    const variables = { c: { constraint: 'note_pkey', update_columns: ['_PLACEHOLDER'] } };
    expect(await send(role, mutation('on_conflict: $c'), variables, '($c: note_on_conflict)')).toEqual(
      refusal,
    );
    expect(await texts()).toEqual(['old']);
  });

  test.each(['inserter', 'empty'])('lets %s leave the conflicting row alone', async (role) => {
    for (const update of ['[]', undefined]) {
      const argument = update ? conflict(update) : 'on_conflict: {constraint: note_pkey}';
      expect(await send(role, mutation(argument))).toHaveProperty('data');
      await world.database.sql('delete from owner');
    }
    expect(await texts()).toEqual(['old']);
  });

  test.each(['inserter', 'empty'])('offers no column to %s', async (role) => {
    expect(await send(role, mutation(conflict('[text]')))).toMatchObject({
      code: 'validation-failed',
      path: expect.stringContaining(path) as string,
      message: "expected one of the values ['_PLACEHOLDER'] for type 'note_update_column', but found 'text'",
    });
  });

  test('updates the columns a role may update, and no others', async () => {
    expect(await send('writer', mutation(conflict('[text]')))).toHaveProperty('data');
    expect(await texts()).toEqual(['new']);
    expect(await send('writer', mutation(conflict('[id]')))).toMatchObject({ code: 'validation-failed' });
    expect(await send('writer', mutation(conflict('[_PLACEHOLDER]')))).toMatchObject({
      code: 'validation-failed',
    });
  });
});
