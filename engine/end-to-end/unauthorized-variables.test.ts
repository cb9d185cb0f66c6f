/** Tests session variables of the unauthorized role: a client without credentials cannot set any, over any transport.
 *  The same requests with --unauthorized-session-variables show that each of them would reach the row. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;
let believing: TestEngine;
let webhook: Server;
const forwarded: IncomingHttpHeaders[] = [];

const CLAIM = { 'x-engine-user-id': '7', 'x-engine-role': 'anonymous' };
const QUERY = '{ note { body } }';

beforeAll(async () => {
  await database.sql(
    "create table note (id int primary key, owner int, body text); insert into note values (1, 7, 'mine')",
  );
  webhook = createServer((request, response) => {
    forwarded.push(request.headers);
    request.resume().on('end', () => response.end('1'));
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const options = {
    databaseUrl: database.url,
    unauthorizedRole: 'anonymous',
    env: { HOOK: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}` },
  };
  engine = await startTestEngine(options);
  await engine.must('pg_track_table', { table: 'note' });
  const permission = { columns: ['id', 'body'], filter: { owner: 'X-Engine-User-Id' } };
  await engine.must('pg_create_select_permission', { table: 'note', role: 'anonymous', permission });
  const queries = [{ name: 'notes', query: QUERY }];
  await engine.must('create_query_collection', { name: 'stored', definition: { queries } });
  const definition = { query: { collection_name: 'stored', query_name: 'notes' } };
  await engine.must('create_rest_endpoint', {
    name: 'notes',
    url: 'notes',
    methods: ['GET', 'POST'],
    definition,
  });
  const action = { handler: '{{HOOK}}', type: 'query', output_type: 'Int', forward_client_headers: true };
  await engine.must('create_action', { name: 'ask', definition: action });
  await engine.must('create_action_permission', { action: 'ask', role: 'anonymous' });
  believing = await startTestEngine({ ...options, unauthorizedSessionVariables: true });
});

afterAll(async () => {
  await believing?.close();
  await engine?.close();
  webhook?.close();
});

async function post(at: TestEngine, path: string, body: unknown): Promise<string> {
  const headers = { 'content-type': 'application/json', ...CLAIM };
  return (await fetch(at.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).text();
}

async function overSocket(
  at: TestEngine,
  query: string,
  headers: { readonly handshake?: object; readonly init?: object },
): Promise<string> {
  const socket = await openSocket(at.url, 'graphql-transport-ws', { ...headers.handshake });
  socket.send({ type: 'connection_init', payload: { headers: { ...headers.init } } });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  const answer = JSON.stringify(await socket.next());
  socket.close();
  return answer;
}

const SELECT = { type: 'select', args: { table: 'note', columns: ['body'] } };
const WAYS: readonly (readonly [string, (at: TestEngine) => Promise<string>])[] = [
  ['HTTP', (at) => post(at, '/v1/graphql', { query: QUERY })],
  ['the older path', (at) => post(at, '/v1alpha1/graphql', { query: QUERY })],
  ['a batch', (at) => post(at, '/v1/graphql', [{ query: QUERY }])],
  ['Relay', (at) => post(at, '/v1beta1/relay', { query: '{ note_connection { edges { node { body } } } }' })],
  ['REST', async (at) => (await fetch(`${at.url}/api/rest/notes`, { headers: CLAIM })).text()],
  ['/v1/query', (at) => post(at, '/v1/query', SELECT)],
  ['headers of the handshake', (at) => overSocket(at, QUERY, { handshake: CLAIM })],
  ['headers of connection_init', (at) => overSocket(at, QUERY, { init: CLAIM })],
  ['a subscription', (at) => overSocket(at, `subscription ${QUERY}`, { init: CLAIM })],
];

describe.each(WAYS)('%s', (_, ask) => {
  test('a client without credentials sets no session variable', async () => {
    const answer = await ask(engine);
    expect(answer).not.toContain('mine');
    expect(answer.toLowerCase()).toContain('missing session variable: \\"x-engine-user-id\\"');
  });

  test('the option accepts session variables from headers', async () => {
    await expect.poll(() => ask(believing)).toContain('mine');
  });
});

test('a webhook that receives the client headers receives no session variable outside the session', async () => {
  expect(JSON.parse(await post(engine, '/v1/graphql', { query: '{ ask }' }))).toEqual({ data: { ask: 1 } });
  expect(forwarded.at(-1)).not.toHaveProperty('x-engine-user-id');
  expect(forwarded.at(-1)).toMatchObject({ 'x-engine-role': 'anonymous' });
  const headers = { 'x-engine-role': 'anonymous', 'x-engine-user-id': '7' };
  await engine.graphql('{ ask }', { role: 'anonymous', headers });
  expect(forwarded.at(-1)).toMatchObject(headers);
});

test.each([
  ['unique_params of a session variable', ['X-Engine-User-Id'], 'x-engine-user-id'],
  ['unique_params IP', 'IP', 'x-forwarded-for'],
])('%s: other headers do not count as another client', async (_, unique_params, header) => {
  const limit = { max_reqs_per_min: 2, unique_params };
  await engine.must('set_api_limits', { disabled: false, rate_limit: { per_role: { anonymous: limit } } });
  const answers: string[] = [];
  for (const value of ['1', '2', '3']) {
    const response = await fetch(`${engine.url}/v1/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [header]: value },
      body: JSON.stringify({ query: '{ __typename }' }),
    });
    answers.push(await response.text());
  }
  await engine.must('remove_api_limits', {});
  expect(answers.map((answer) => answer.includes('rate-limit-exceeded'))).toEqual([false, false, true]);
});
