/** Tests the rule that a database which falls silent in the middle of a transaction of a request holds other requests for a bounded time, and
 *  that one which answers may take as long as it needs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { op, startTestEngine } from '../admin/testing/engine.ts';
import { openProxy } from '../wire/testing/proxy.ts';

/** The interval of checks, their limit, and what a busy machine adds. */
const BOUND_MS = 5000 + 10_000 + 5000;

/** An engine with a source behind a proxy. */
async function world() {
  const other = await createDatabase();
  await other.sql('create table far (id int primary key)');
  const proxy = await openProxy(other.url);
  const engine = await startTestEngine();
  const send = (body: object) => {
    const { type } = body as { readonly type: string };
    return engine.send(body, ['run_sql', 'bulk'].includes(type) ? '/v2/query' : '/v1/metadata');
  };
  const must = async (body: object) => {
    const { status, body: answer } = await send(body);
    expect({ status, answer }).toMatchObject({ status: 200 });
  };
  await engine.database.sql('create table note (id int primary key)');
  await must(op('pg_track_table', { table: 'note' }));
  await must(
    op('pg_add_source', { name: 'far', configuration: { connection_info: { database_url: proxy.url } } }),
  );
  await must(op('pg_track_table', { source: 'far', table: 'far' }));
  return {
    other,
    proxy,
    send,
    must,
    [Symbol.asyncDispose]: async () => {
      proxy.isSilent = false;
      await proxy.close();
      await engine.close();
      await other.drop();
    },
  };
}

const sql = (text: string, more: object = {}) => op('run_sql', { source: 'far', sql: text, ...more });

/** Its DDL waits while the table is locked. */
const TRIGGER = op('pg_create_event_trigger', {
  ...{ name: 'written', source: 'far', table: 'far', webhook: 'http://127.0.0.1:9/' },
  insert: { columns: '*' },
});

/** Requests whose statement is under way when the database falls silent. */
const REQUESTS: readonly (readonly [string, object])[] = [
  ['SQL', sql('select pg_sleep(2); create table made (id int)')],
  ['SQL outside a transaction', sql('select pg_sleep(2)', { no_transaction: true })],
  ['SQL that metadata follow', sql('alter table far add more int; select pg_sleep(2)')],
  ['SQL of a batch', op('bulk', [sql('select 1'), sql('select pg_sleep(2)')])],
  ['an event trigger', TRIGGER],
];

test.concurrent.each(REQUESTS)(
  'others wait for a bounded time after a database falls silent during %s',
  async (_, request) => {
    await using given = await world();
    const lock = request === TRIGGER && given.other.sql('begin; lock table far; select pg_sleep(3); commit');
    await sleep(300);
    const slow = given.send(request);
    await sleep(700);
    given.proxy.isSilent = true;
    const began = performance.now();
    const permission = { columns: ['id'], filter: {} };
    await given.must(op('pg_create_select_permission', { table: 'note', role: 'reader', permission }));
    expect(performance.now() - began).toBeLessThan(BOUND_MS);
    const { status, body } = await slow;
    expect([status, (body as { code: string }).code]).toEqual([500, 'postgres-error']);
    await lock;
  },
  90_000,
);

test.concurrent('a statement that takes longer than the bound is not ended while the database answers', async () => {
  await using given = await world();
  await given.must(sql('select pg_sleep(20)'));
}, 90_000);
