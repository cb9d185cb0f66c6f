/** Tests asynchronous actions of whole engines on one metadata database: the webhook is called once, the answer is
 *  available later, to the session that called. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSession } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

type Told = { readonly input: { readonly n: number }; readonly session_variables: unknown };

const database = testDatabase();
let engine: TestEngine;
const told: Told[] = [];
const headers: (string | string[] | undefined)[] = [];
let reply: (n: number) => { readonly status: number; readonly body: unknown };
/** The webhook answers once this resolves. */
const texts: string[] = [];
let open: Promise<void> = Promise.resolve();

const webhook = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', async () => {
    const asked = JSON.parse(text) as Told;
    texts.push(text);
    told.push(asked);
    headers.push(request.headers['x-mine']);
    await open;
    const { status, body } = reply(asked.input.n);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});

const start = () =>
  startTestEngine({ databaseUrl: database.url, env: { HOOK: hook }, asyncActionsFetchInterval: 50 });
let hook: string;

beforeAll(async () => {
  await database.sql(`create table author (id int primary key, name text);
    insert into author values (1, 'Ada'), (2, 'Bob')`);
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  hook = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  engine = await start();
  await engine.admin('pg_track_table', { table: 'author' });
  const author = { name: 'author', type: 'object', remote_table: 'author', field_mapping: { id: 'id' } };
  const fields = [
    { name: 'id', type: 'Int!' },
    { name: 'note', type: 'String' },
  ];
  await engine.admin('set_custom_types', { objects: [{ name: 'Done', fields, relationships: [author] }] });
  const definition = {
    kind: 'asynchronous',
    arguments: [{ name: 'n', type: 'Int!' }],
    output_type: 'Done',
    handler: '{{HOOK}}',
    forward_client_headers: true,
  };
  await engine.must('create_action', { name: 'work', definition });
  await engine.admin('create_action_permission', { action: 'work', role: 'user' });
});
afterAll(async () => {
  await engine?.close();
  webhook.close();
});
beforeEach(() => {
  told.length = 0;
  headers.length = 0;
  open = Promise.resolve();
  reply = (n) => ({ status: 200, body: { id: n, note: 'done' } });
});

/** Calls the action and returns the id of the call. */
async function begun(n: number, asker: Parameters<TestEngine['graphql']>[1] = {}): Promise<string> {
  const answer = await engine.graphql<{ work: string }>(`mutation { work(n: ${n}) }`, asker);
  return answer.data!.work;
}

const RESULT = 'query ($id: uuid!) { work(id: $id) { id errors output { id note author { name } } } }';
const resultOf = (id: string, asker: Parameters<TestEngine['graphql']>[1] = {}) =>
  engine.graphql<{ work: { errors: unknown; output: unknown } | null }>(RESULT, {
    ...asker,
    variables: { id },
  });
const finished = (id: string) =>
  expect.poll(async () => {
    const { work } = (await resultOf(id)).data!;
    return work?.output ?? work?.errors;
  });

test('a call returns an id at once, and its output later, with the related rows', async () => {
  let release = () => {};
  open = new Promise((resolve) => (release = resolve));
  const id = await begun(2, { headers: { 'x-mine': 'forwarded' } });
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect((await resultOf(id)).data).toEqual({ work: { id, errors: null, output: null } });
  release();
  await finished(id).toEqual({ id: 2, note: 'done', author: { name: 'Bob' } });
  expect(told).toMatchObject([{ action: { name: 'work' }, input: { n: 2 } }]);
  expect(headers).toEqual(['forwarded']);
  const { data } = await engine.graphql(`{ work(id: "${id}") { __typename created_at } }`);
  expect(data).toMatchObject({
    work: { __typename: 'work', created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
  });
});

test('numbers of the input keep all of their digits', async () => {
  const definition = {
    kind: 'asynchronous',
    arguments: [{ name: 'n', type: 'bigint!' }],
    output_type: 'Done',
    handler: '{{HOOK}}',
  };
  await engine.must('create_action', { name: 'large', definition });
  texts.length = 0;
  await engine.graphql('mutation { large(n: 9007199254740993) }');
  await expect.poll(() => texts.join()).toContain('"n":9007199254740993');
  await engine.admin('drop_action', { name: 'large' });
});

test('only the session that called sees the output; administrators see all', async () => {
  const ann = { role: 'user', headers: { 'x-engine-user-id': 'ann' } };
  const id = await begun(1, ann);
  await finished(id).toMatchObject({ id: 1 });
  const query = `{ work(id: "${id}") { output { id } } }`;
  expect(await engine.graphql(query, ann)).toEqual({ data: { work: { output: { id: 1 } } } });
  const bob = { role: 'user', headers: { 'x-engine-user-id': 'bob' } };
  expect(await engine.graphql(query, bob)).toEqual({ data: { work: null } });
  expect(await engine.graphql(query, { role: 'stranger' })).toMatchObject({
    errors: [{ extensions: { code: 'validation-failed' } }],
  });
  expect(await engine.graphql(query)).toEqual({ data: { work: { output: { id: 1 } } } });
});

test('a failure is stored and not retried', async () => {
  reply = () => ({ status: 400, body: { message: 'no', code: 'refused' } });
  const id = await begun(1);
  await finished(id).toEqual({ path: '$', error: 'no', code: 'refused' });
  reply = () => ({ status: 200, body: 'text' });
  const mistyped = await begun(2);
  await finished(mistyped).toMatchObject({
    error: 'got scalar String for the action webhook response, expecting Done',
  });
  reply = () => ({ status: 200, body: { note: 'no id' } });
  const incomplete = await begun(3);
  await finished(incomplete).toMatchObject({
    error: 'field "id" expected in webhook response, but not found',
  });
  expect(told).toHaveLength(3);
});

test('an invalid id is refused, an unknown one is null', async () => {
  expect((await resultOf('7')).errors).toMatchObject([{ extensions: { code: 'data-exception' } }]);
  expect((await resultOf('7f3e4d9a-0000-4000-8000-000000000000')).data).toEqual({ work: null });
});

test('a subscription sends the answer when it is available', async () => {
  let release = () => {};
  open = new Promise((resolve) => (release = resolve));
  const id = await begun(1);
  const socket = await openSession(engine);
  onTestFinished(() => socket.socket.terminate());
  const query = `subscription { work(id: "${id}") { output { author { name } } } }`;
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  expect(await socket.next()).toMatchObject({ payload: { data: { work: { output: null } } } });
  release();
  expect(await socket.next()).toMatchObject({
    payload: { data: { work: { output: { author: { name: 'Ada' } } } } },
  });
});

test('two engines make each call once', async () => {
  const other = await start();
  onTestFinished(() => other.close().then(() => undefined));
  const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => begun(n)));
  await expect.poll(() => told.length).toBe(30);
  for (const [n, id] of ids.entries()) await finished(id).toMatchObject({ id: n });
  expect(new Set(told.map(({ input }) => input.n)).size).toBe(30);
  expect(told).toHaveLength(30);
});

test('another engine makes the calls of a stopped engine, except those with a valid lease', async () => {
  const insert = (n: number, status: string, lease: string) =>
    database.sql(`insert into pergola.action_call
      (action, session_variables, message, client_headers, status, lease_ends_at)
      values ('work', '{}', '{"body": {"action": {"name": "work"}, "input": {"n": ${n}}}, "sessionVariables": {}}',
        '{}', '${status}', ${lease})`);
  await insert(101, 'waiting', 'null');
  await insert(102, 'running', `now() - interval '1 second'`);
  await insert(103, 'running', `now() + interval '1 hour'`);
  await expect.poll(() => told.map(({ input }) => input.n).sort()).toEqual([101, 102]);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(told).toHaveLength(2);
});

test('a call during which engines have ended five times fails, and is not made again', async () => {
  const insert = async (n: number, interruptions: number): Promise<string> => {
    const [row] = await database.sql(`insert into pergola.action_call
      (action, session_variables, message, client_headers, status, lease_ends_at, interruptions)
      values ('work', '{}', '{"body": {"action": {"name": "work"}, "input": {"n": ${n}}}, "sessionVariables": {}}',
        '{}', 'running', now() - interval '1 second', ${interruptions}) returning id::text`);
    return (row as { id: string }).id;
  };
  const [often, oftener] = [await insert(201, 3), await insert(202, 4)];
  const outcome = async (id: string) =>
    (
      await database.sql(`select status, interruptions, errors from pergola.action_call where id = '${id}'`)
    )[0];
  await expect
    .poll(() => outcome(oftener), { timeout: 20_000 })
    .toEqual({
      status: 'failed',
      interruptions: 5,
      errors: {
        path: '$',
        error: 'the engine ended during each of 5 calls of the webhook',
        code: 'unexpected',
      },
    });
  await expect
    .poll(() => outcome(often), { timeout: 20_000 })
    .toMatchObject({ status: 'answered', interruptions: 4 });
  expect(told.map(({ input }) => input.n)).toEqual([201]);
});

test('calls survive a killed engine, and finished ones are not repeated', async () => {
  const child = spawn(process.execPath, ['bin/pergola.mjs', 'serve', '--server-port', '0'], {
    env: {
      PATH: process.env['PATH'],
      HOOK: hook,
      ENGINE_GRAPHQL_DATABASE_URL: database.url,
      ENGINE_GRAPHQL_ADMIN_SECRET: 'other',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stderr.on('data', (chunk) => (printed += chunk));
  await expect.poll(() => printed, { timeout: 20_000 }).toContain('serves GraphQL at');
  const url = `${/http:\/\/localhost:\d+/.exec(printed)![0].replace('localhost', '127.0.0.1')}/v1/graphql`;
  const begin = async (n: number) => {
    const body = JSON.stringify({ query: `mutation { work(n: ${n}) }` });
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-engine-admin-secret': 'other' },
      body,
    });
    return ((await response.json()) as { data: { work: string } }).data.work;
  };
  const done = await Promise.all([1, 2, 3].map(begin));
  for (const id of done) await finished(id).toMatchObject({ note: 'done' });
  let release = () => {};
  open = new Promise((resolve) => (release = resolve));
  const ids = await Promise.all([11, 12, 13, 14, 15, 16].map(begin));
  await expect.poll(() => told.length).toBe(9);
  child.kill('SIGKILL');
  await once(child, 'close');
  release();
  // Calls that our own engine has claimed are answered; the others wait until their leases expire.
  const running = async () =>
    Number(
      (await database.sql("select count(*) from pergola.action_call where status = 'running'"))[0]!['count'],
    );
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const left = await running();
  await database.sql("update pergola.action_call set lease_ends_at = now() where status = 'running'");
  for (const id of ids) await finished(id).toMatchObject({ note: 'done' });
  expect(told).toHaveLength(9 + left);
  for (const n of [1, 2, 3]) expect(told.filter(({ input }) => input.n === n)).toHaveLength(1);
});

test('closing an engine waits for its running calls', async () => {
  const other = await start();
  let release = () => {};
  open = new Promise((resolve) => (release = resolve));
  const { data } = await other.graphql<{ work: string }>('mutation { work(n: 1) }');
  await expect.poll(() => told.length).toBe(1);
  const closing = other.close();
  release();
  await closing;
  expect((await resultOf(data!.work)).data).toMatchObject({ work: { output: { id: 1 } } });
});

test('dropping an action deletes its calls, unless the request keeps them', async () => {
  const count = async () =>
    Number(
      (await database.sql(`select count(*) as n from pergola.action_call where action = 'gone'`))[0]!['n'],
    );
  const definition = {
    kind: 'asynchronous',
    output_type: 'Done',
    handler: '{{HOOK}}',
    arguments: [{ name: 'n', type: 'Int!' }],
  };
  await engine.admin('create_action', { name: 'gone', definition });
  await engine.graphql('mutation { gone(n: 1) }');
  await expect.poll(() => told.length).toBe(1);
  await engine.admin('drop_action', { name: 'gone', clear_data: false });
  expect(await count()).toBe(1);
  await engine.admin('create_action', { name: 'gone', definition });
  await engine.admin('drop_action', { name: 'gone' });
  expect(await count()).toBe(0);
});
