/** Tests a source behind pgbouncer in transaction mode, with prepared statements off: everything works as without it,
 *  and no request leaves state in a connection for the next. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from '../../testing/pgbouncer.ts';
import { openSession } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

const isThere = hasPgbouncer();
const why = isThere ? '' : ' (skipped: there is no pgbouncer on the PATH)';

const database = testDatabase();
const pooled = testDatabase();
let bouncer: Pgbouncer;
let engine: TestEngine;

const must = async (type: string, args: object) => {
  const answer = await engine.admin(type, { source: 'pooled', ...args });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};

beforeAll(async () => {
  if (!isThere) return;
  await pooled.sql(`
    create table note (id serial primary key, text text not null default 'a', writer text);
    create function who() returns trigger language plpgsql as $$
      begin new.writer = current_setting('engine.user', true)::json->>'x-engine-user-id'; return new; end $$;
    create trigger who before insert on note for each row execute function who()`);
  bouncer = await startPgbouncer(pooled.url);
  engine = await startTestEngine({ databaseUrl: database.url });
  const connection_info = { database_url: bouncer.url, use_prepared_statements: false };
  const added = { name: 'pooled', configuration: { connection_info } };
  await engine.must('pg_add_source', added);
  await must('pg_track_table', { table: 'note' });
  await must('pg_create_insert_permission', {
    table: 'note',
    role: 'user',
    permission: { columns: ['text'], check: {} },
  });
  await must('pg_create_select_permission', {
    table: 'note',
    role: 'user',
    permission: { columns: '*', filter: {} },
  });
});
afterAll(async () => {
  await engine?.close();
  await bouncer?.close();
});

describe.skipIf(!isThere)(`behind pgbouncer in transaction mode${why}`, () => {
  test('only the statement of a client that disconnects is cancelled', async () => {
    await pooled.sql('create view waits as select 1 as id from pg_sleep(30)');
    await must('pg_track_table', { table: 'waits' });
    const sleeping = async () =>
      (
        await pooled.sql(
          `select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
        )
      ).length;
    const quick = async (i: number) => {
      for (let n = 0; n < 20; n++) {
        expect(await engine.graphql(`{ note(where: {id: {_lt: ${-i}}}) { id } }`)).toEqual({
          data: { note: [] },
        });
      }
    };
    for (let round = 0; round < 3; round++) {
      const client = new AbortController();
      const body = JSON.stringify({ query: '{ waits { id } }' });
      const answer = engine.fetch('/v1/graphql', { method: 'POST', body, signal: client.signal });
      const failed = expect(answer).rejects.toThrow('abort');
      await vi.waitFor(async () => expect(await sleeping()).toBe(1), { timeout: 10_000 });
      const others = [1, 2, 3, 4].map(quick);
      client.abort();
      await failed;
      await vi.waitFor(async () => expect(await sleeping()).toBe(0), { timeout: 5000 });
      await Promise.all(others);
    }
  });

  test('many different queries at once are answered', async () => {
    const asked = Array.from({ length: 60 }, (_, i) =>
      engine.graphql(`{ f${i % 20}: note(where: {id: {_gt: ${i}}}) { id text } }`),
    );
    for (const [i, answer] of (await Promise.all(asked)).entries()) {
      expect(answer).toEqual({ data: { [`f${i % 20}`]: [] } });
    }
  });

  test('each mutation has its own session, also during other writes', async () => {
    const write = (user: string) =>
      engine.graphql(
        'mutation { a: insert_note_one(object: {}) { writer } b: insert_note_one(object: {}) { writer } }',
        {
          role: 'user',
          headers: { 'x-engine-user-id': user },
        },
      );
    const users = Array.from({ length: 20 }, (_, i) => String(i));
    const answers = await Promise.all(users.map(write));
    expect(answers).toEqual(users.map((writer) => ({ data: { a: { writer }, b: { writer } } })));
    await pooled.sql('truncate note');
  });

  test('a failed mutation leaves no changes, and its connection stays usable', async () => {
    const failing =
      'mutation { a: insert_note_one(object: {}) { id } b: insert_note_one(object: {id: "x"}) { id } }';
    expect(await engine.graphql(failing)).toHaveProperty('errors');
    expect(await engine.graphql('{ note { id } }')).toEqual({ data: { note: [] } });
  });

  test('a live query receives changes', async () => {
    const socket = await openSession(engine);
    socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { note { text } }' } });
    expect(await socket.next()).toMatchObject({ payload: { data: { note: [] } } });
    await pooled.sql(`insert into note (text) values ('live')`);
    const told = await vi.waitFor(() => socket.next(), { timeout: 15_000 });
    expect(told).toMatchObject({ payload: { data: { note: [{ text: 'live' }] } } });
    socket.close();
  });

  test('SQL of administrators and its effects work', async () => {
    await must('run_sql', { sql: 'alter table note add column more int; set local work_mem = 4096' });
    expect(await engine.graphql('{ note { more } }')).toHaveProperty('data');
    await must('run_sql', { sql: 'alter table note drop column more' });
  });

  test('a statement that exceeds its time limit is ended in the database', async () => {
    await must('set_api_limits', { disabled: false, time_limit: { global: 1 } });
    await pooled.sql(`create function slow() returns setof note language sql stable as
      $$ select note.* from note, pg_sleep(30) $$`);
    await must('pg_track_function', { function: 'slow' });
    const { errors } = await engine.graphql('{ slow { id } }', { role: 'user' });
    expect(errors?.[0]?.extensions.code).toBe('time-limit-exceeded');
    await must('remove_api_limits', {});
  });

  test('no request leaves anything in a connection', async () => {
    const rows = await Promise.all(
      [1, 2, 3, 4].map(() =>
        must('run_sql', {
          sql: `select (select count(*) from pg_prepared_statements where name <> ''),
                       coalesce(current_setting('engine.user', true), ''),
                       current_setting('statement_timeout')`,
        }),
      ),
    );
    for (const row of rows) expect(row).toMatchObject({ result: [expect.anything(), ['0', '', '0']] });
  });
});
