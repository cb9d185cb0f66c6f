/** Tests operations that read a database in a request whose statements hold locks there: none waits for its own request, which would hang
 *  for ever and stop every other change of the metadata. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

const LOCKED = op('run_sql', { sql: 'lock table note in access exclusive mode' });
const WHY = { table: 'note', role: 'reader', operation: 'select', key: { id: 1 } };

let engine: AdminTestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
  const sql = `create table note (id int primary key, text text); create view long_note as select * from note;
    insert into note values (1, 'one')`;
  await engine.must(op('run_sql', { sql }));
  await engine.must(op('bulk', [op('track_table', 'note'), op('track_table', 'long_note')]));
  const permission = { columns: ['id'], filter: {} };
  await engine.must(op('pg_create_select_permission', { table: 'note', role: 'reader', permission }));
  const configuration = { connection_info: { database_url: engine.database.url } };
  await engine.must(op('pg_add_source', { name: 'again', configuration }));
});
afterAll(() => engine.close());

/** Returns the answer to a request of several operations. */
const bulk = (...items: readonly object[]) => engine.query(op('bulk', items));

test('a definition of a view is that after the changes of the request', async () => {
  const { status, body } = await bulk(
    LOCKED,
    op('run_sql', { sql: 'create or replace view long_note as select id, text, 1 as more from note' }),
    op('pg_get_viewdef_info', { view: 'long_note' }),
  );
  expect([status, body]).toEqual([200, expect.anything()]);
  expect((body as readonly object[])[2]).toMatchObject({ definition: expect.stringContaining('1 AS more') });
});

test('explain_access of rows after statements on the source is refused, and of fields it is not', async () => {
  const refused = await bulk(LOCKED, op('explain_access', WHY));
  expect(refused).toMatchObject({ status: 400, body: { code: 'not-supported', path: '$.args[1].args' } });
  expect(JSON.stringify(refused.body)).toContain('send it in a request of its own');
  expect((await bulk(op('explain_access', WHY), LOCKED)).status).toBe(200);
  const ofFields = { table: 'note', role: 'reader', operation: 'select', fields: ['text'] };
  expect((await bulk(LOCKED, op('explain_access', ofFields))).status).toBe(200);
});

test('SQL that reads and SQL that writes are refused in one request, also in batches inside of it', async () => {
  const read = op('run_sql', { sql: 'select * from note', read_only: true });
  for (const items of [
    [LOCKED, read],
    [op('bulk', [LOCKED]), op('bulk', [read])],
    [op('bulk', [op('bulk', [LOCKED])]), op('concurrent_bulk', [read])],
  ]) {
    const answer = await engine.send(op('bulk', items), '/v2/query');
    expect(answer).toMatchObject({ status: 400, body: { code: 'bad-request' } });
  }
});

test('a second source that is the same database does not wait for ever for the first', async () => {
  const { status, body } = await bulk(LOCKED, op('run_sql', { source: 'again', sql: 'select * from note' }));
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('lock timeout');
});

test('logs of events are read after statements that lock their tables', async () => {
  const trigger = { name: 'written', table: 'note', webhook: 'http://127.0.0.1:9', insert: { columns: '*' } };
  await engine.must(op('pg_create_event_trigger', { source: 'default', ...trigger }));
  const locked = op('run_sql', { sql: 'lock table pergola.event_log in access exclusive mode' });
  const logs = op('pg_get_event_logs', { source: 'default', name: 'written' });
  expect(await bulk(locked, logs)).toMatchObject({ status: 200 });
});

test('after all of it, the metadata can be changed', async () => {
  await engine.must(op('pg_drop_select_permission', { table: 'note', role: 'reader' }));
  const open = `select query from pg_stat_activity where datname = current_database() and state like 'idle in%'`;
  expect(await engine.database.sql(open)).toEqual([]);
});
