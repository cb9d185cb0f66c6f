/** Tests what a role learns about rows it may write but not read, by guessing a masked value from the number of rows
 *  written. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let loose: TestEngine;
let strict: TestEngine;

const ROWS = `truncate note; insert into note values (1, 'mine', 1, 0), (2, 'hidden', 2, 0)`;

beforeAll(async () => {
  await database.sql('create table note (id int primary key, text text, owner int, votes int)');
  loose = await startTestEngine({ databaseUrl: database.url });
  await loose.admin('pg_track_table', { table: 'note' });
  const columns = ['id', 'text', 'owner', 'votes'];
  const own = { owner: { _eq: 'X-Engine-User-Id' } };
  const permit = async (kind: string, role: string, permission: object) => {
    expect(
      await loose.admin(`pg_create_${kind}_permission`, { table: 'note', role, permission }),
    ).toMatchObject({
      status: 200,
    });
  };
  for (const role of ['user', 'other']) {
    await permit('select', role, { columns, filter: own });
    await permit('insert', role, { columns, check: {} });
    await permit('update', role, { columns, filter: {} });
    await permit('delete', role, { filter: {} });
  }
  await permit('delete', 'cleaner', { filter: { votes: { _eq: 0 } } });
  await loose.admin('add_inherited_role', { role_name: 'both', role_set: ['user', 'other'] });
  strict = await startTestEngine({
    databaseUrl: database.url,
    adminSecret: loose.adminSecret,
    strictWrites: true,
  });
});
afterAll(async () => {
  await strict?.close();
  await loose?.close();
});
beforeEach(() => database.sql(ROWS));

type Write = (engine: TestEngine, role: string, text: string) => Promise<unknown>;
const headers = { 'x-engine-user-id': '1' };
const graphql =
  (mutation: (text: string) => string): Write =>
  (engine, role, text) =>
    engine.graphql(`mutation { ${mutation(text)} }`, { role, headers });
const v1 =
  (type: string, args: (text: string) => object): Write =>
  async (engine, role, text) => {
    const as = { 'x-engine-role': role, ...headers };
    const about = { table: 'note', ...args(text) };
    return (await engine.admin(type, about, { endpoint: '/v1/query', headers: as })).body;
  };

/** Each probe tests whether a row with this text exists. */
const PROBES: readonly (readonly [string, Write])[] = [
  [
    'update',
    graphql((text) => `update_note(where: {text: {_eq: "${text}"}}, _inc: {votes: 1}) { affected_rows }`),
  ],
  [
    'update_many',
    graphql(
      (text) =>
        `update_note_many(updates: [{where: {text: {_eq: "${text}"}}, _inc: {votes: 1}}]) { affected_rows }`,
    ),
  ],
  ['delete', graphql((text) => `delete_note(where: {text: {_eq: "${text}"}}) { affected_rows }`)],
  [
    'update by key',
    graphql(
      (text) =>
        `update_note_by_pk(pk_columns: {id: ${text === 'hidden' ? 2 : text === 'mine' ? 1 : 3}}, _inc: {votes: 1}) { id }`,
    ),
  ],
  [
    'delete by key',
    graphql((text) => `delete_note_by_pk(id: ${text === 'hidden' ? 2 : text === 'mine' ? 1 : 3}) { id }`),
  ],
  [
    'the condition of an upsert',
    graphql(
      (text) => `insert_note(objects: [{id: ${text === 'mine' ? 1 : 2}, votes: 0}], on_conflict: {
        constraint: note_pkey, update_columns: [votes], where: {text: {_eq: "${text}"}}}) { affected_rows }`,
    ),
  ],
  ['update of /v1/query', v1('update', (text) => ({ where: { text }, $inc: { votes: 1 } }))],
  ['delete of /v1/query', v1('delete', (text) => ({ where: { text } }))],
];

const hasWritten = (answer: unknown) => {
  const text = JSON.stringify(answer);
  expect(text).not.toContain('error');
  return !/"affected_rows":0|:null/.test(text);
};

describe.each(PROBES)('%s', (_, probe) => {
  test.each(['user', 'both'])('with --strict-writes, %s reveals nothing about a hidden row', async (role) => {
    expect(await probe(strict, role, 'hidden')).toEqual(await probe(strict, role, 'absent'));
    expect(hasWritten(await probe(strict, role, 'hidden'))).toBe(false);
    expect(hasWritten(await probe(strict, role, 'mine'))).toBe(true);
    expect(await database.sql('select text, votes from note where id = 2')).toEqual([
      { text: 'hidden', votes: 0 },
    ]);
  });

  test('without the option, it affects every row of the filter for writes', async () => {
    const answer = await probe(loose, 'user', 'hidden');
    expect(hasWritten(answer)).toBe(true);
  });
});

test('a role that may not read, and so cannot write conditions, writes the rows of its filter', async () => {
  const answer = await strict.graphql('mutation { delete_note(where: {}) { affected_rows } }', {
    role: 'cleaner',
  });
  expect(answer).toEqual({ data: { delete_note: { affected_rows: 2 } } });
});
