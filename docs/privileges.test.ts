/** docs/guides/databases.md, "Privileges": with the privileges of a row the work succeeds, and without one of them the database refuses it. In: databases of
 *  a user of their own, who owns nothing in them. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { testDatabase } from '../testing/world.ts';

const DENIED = expect.stringContaining('permission denied');

const source = testDatabase();
const metadata = testDatabase();
const engines: TestEngine[] = [];
const users: string[] = [];
let engine: TestEngine;

beforeAll(async () => {
  await source.sql(`
    create schema shop;
    create table shop.note (id int primary key, text text);
    insert into shop.note values (1, 'one');
    create function shop.notes() returns setof shop.note language sql stable as 'select * from shop.note';
    revoke execute on function shop.notes from public;
    revoke create on schema public from public`);
  engine = await startAs(await createUser(source), {});
});
afterEach(async () => {
  for (const other of engines.splice(1)) await other.close();
});
afterAll(async () => {
  for (const each of engines) await each.close();
  for (const user of users) {
    for (const database of [source, metadata]) await database.sql(`drop owned by ${user} cascade`);
    await source.sql(`drop role ${user}`);
  }
});

/** Creates a user without privileges, and returns the URL of the database with it. */
async function createUser(database: TestDatabase): Promise<string> {
  const user = `user_${process.pid}_${users.length}`;
  await database.sql(`create role ${user} login`);
  users.push(user);
  const url = new URL(database.url);
  url.username = user;
  return url.href;
}

async function startAs(databaseUrl: string, { metadataDatabaseUrl = metadata.url }): Promise<TestEngine> {
  const started = await startTestEngine({ databaseUrl, metadataDatabaseUrl });
  engines.push(started);
  return started;
}

const grant = (privilege: string) => source.sql(`grant ${privilege} to ${users[0]}`);
const on = (target: string, database = source) => `${target} ${new URL(database.url).pathname.slice(1)}`;
const TABLE = { schema: 'shop', name: 'note' };

const QUERY = '{ shop_note { id } }';
const INSERT = 'mutation { insert_shop_note_one(object: { id: 2, text: "two" }) { id } }';
const UPDATE = 'mutation { update_shop_note_by_pk(pk_columns: { id: 2 }, _set: { text: "2" }) { id } }';
const DELETE = 'mutation { delete_shop_note_by_pk(id: 2) { id } }';

test('a table and a function are served with USAGE on the schema and the privileges of what is done', async () => {
  await engine.must('pg_track_table', TABLE);
  const answers = async (query: string) => {
    const { data, errors } = await engine.graphql(query);
    return errors === undefined ? Object.keys(data!).length : errors[0]!.extensions.code;
  };
  expect(await answers(QUERY)).not.toBe(1);
  await grant('usage on schema shop');
  expect(await answers(QUERY)).not.toBe(1);
  for (const [privilege, request] of [
    ['select', QUERY],
    ['insert', INSERT],
    ['update', UPDATE],
    ['delete', DELETE],
  ] as const) {
    expect(await answers(request), privilege).not.toBe(1);
    await grant(`${privilege} on shop.note`);
    expect(await answers(request), privilege).toBe(1);
  }
  await engine.must('pg_track_function', { function: { schema: 'shop', name: 'notes' } });
  expect(await answers('{ shop_notes { id } }')).not.toBe(1);
  await grant('execute on function shop.notes');
  expect(await answers('{ shop_notes { id } }')).toBe(1);
});

test('an event trigger needs TRIGGER on the table and CREATE on the database', async () => {
  const create = () =>
    engine.admin('pg_create_event_trigger', {
      ...{ name: 'noted', table: TABLE, webhook: 'http://127.0.0.1:9', insert: { columns: '*' } },
    });
  const refused = { status: 400, body: { internal: { error: { message: DENIED } } } };
  expect(await create()).toMatchObject(refused);
  await grant(`create on ${on('database')}`);
  expect(await create()).toMatchObject(refused);
  await grant('trigger on shop.note');
  expect(await create()).toMatchObject({ status: 200 });
  expect(await engine.graphql(INSERT)).toEqual({ data: { insert_shop_note_one: { id: 2 } } });
  expect(await source.sql('select count(*)::int from pergola.event_log')).toEqual([{ count: 1 }]);
  await engine.must('pg_delete_event_trigger', { name: 'noted' });
});

test('migrations need CREATE on the database, and what their SQL needs', async () => {
  await source.sql(`revoke create on ${on('database')} from ${users[0]}`);
  const apply = async (name: string, sql: string) =>
    (await engine.admin('apply_migrations', { migrations: [{ name, sql }] })).body;
  const refused = { state: 'refused', applied: [], message: DENIED };
  expect(await apply('1_first.sql', 'select 1')).toMatchObject(refused);
  await grant(`create on ${on('database')}`);
  // A run that failed is not repeated at once.
  await expect
    .poll(() => apply('1_first.sql', 'select 1'), { timeout: 20_000, interval: 500 })
    .toMatchObject({ state: 'applied', version: '1' });
  const more = await apply('2_more.sql', 'alter table shop.note add column more text');
  expect(more).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('must be owner of table note'),
  });
});

test('the metadata need CREATE on their database, or a schema pergola that the user owns', async () => {
  const url = await createUser(metadata);
  const user = users.at(-1)!;
  await metadata.sql('drop schema pergola cascade');
  await expect(startAs(source.url, { metadataDatabaseUrl: url })).rejects.toMatchObject({ message: DENIED });
  await metadata.sql(`create schema pergola authorization ${user}`);
  await startAs(source.url, { metadataDatabaseUrl: url });
  await engines.pop()!.close();
  await metadata.sql(`drop schema pergola cascade; grant create on ${on('database', metadata)} to ${user}`);
  await startAs(source.url, { metadataDatabaseUrl: url });
  await engines.pop()!.close();
});
