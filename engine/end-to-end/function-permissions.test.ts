/** Tests which roles may call a function, with and without `--infer-function-permissions`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;
let strict: TestEngine;

beforeAll(async () => {
  await database.sql(`
    create table person (id int primary key);
    insert into person values (1), (2);
    create function anyone() returns setof person language sql stable as $$ select * from person $$;
    create function people() returns setof person language sql stable as $$ select * from person $$;
    create function leave() returns setof person language sql volatile as $$ select * from person $$;`);
  engine = await startTestEngine({ databaseUrl: database.url });
  for (const [type, args] of [
    ['pg_track_table', { table: 'person' }],
    ['pg_track_function', { function: 'anyone' }],
    ['pg_track_function', { function: 'people' }],
    ['pg_track_function', { function: 'leave' }],
    ['pg_create_select_permission', select('reader')],
    ['pg_create_select_permission', select('caller')],
    ['pg_create_function_permission', { function: 'people', role: 'caller' }],
    ['pg_create_function_permission', { function: 'leave', role: 'caller' }],
    ['pg_create_function_permission', { function: 'people', role: 'blind' }],
  ] as const) {
    await engine.must(type, args);
  }
  strict = await startTestEngine({
    databaseUrl: database.url,
    adminSecret: engine.adminSecret,
    inferFunctionPermissions: false,
  });
});
afterAll(async () => {
  await strict?.close();
  await engine?.close();
});

function select(role: string) {
  return { table: 'person', role, permission: { columns: ['id'], filter: { id: 1 } } };
}

const CALLS = {
  anyone: '{ anyone { id } }',
  people: '{ people { id } }',
  leave: 'mutation { leave { id } }',
};
type Answer = 'rows' | 'nothing';

test.each<[string, keyof typeof CALLS, Answer, Answer]>([
  ['reader', 'anyone', 'rows', 'nothing'],
  ['blind', 'anyone', 'nothing', 'nothing'],
  // The function has permissions for other roles.
  ['reader', 'people', 'nothing', 'nothing'],
  ['reader', 'leave', 'nothing', 'nothing'],
  ['caller', 'people', 'rows', 'rows'],
  ['caller', 'leave', 'rows', 'rows'],
  ['blind', 'people', 'nothing', 'nothing'],
])('a %s calling %s gets %s when permissions are inferred, otherwise %s', async (role, fn, ...expected) => {
  const answers = await Promise.all([engine, strict].map((at) => at.graphql(CALLS[fn], { role })));
  expect(answers.map(({ data }) => (data ? 'rows' : 'nothing'))).toEqual(expected);
  // The rows are those the role may read.
  for (const { data } of answers) if (data) expect(data).toEqual({ [fn]: [{ id: 1 }] });
});

test('a function is invisible to roles that may not call it', async () => {
  const names = '{ __schema { queryType { fields { name } } mutationType { fields { name } } } }';
  const seen = JSON.stringify((await strict.graphql(names, { role: 'reader' })).data);
  expect(seen).toContain('"person"');
  expect(seen).not.toMatch(/anyone|people|leave/);
});
