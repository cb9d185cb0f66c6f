/** Tests the log of a real engine: each type of line has its content, and no line has a secret. */
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';
import { loadedSettings } from '../config/testing/settings.ts';
import { LOG_TYPES } from '../observe/observation.ts';
import { openLog } from '../observe/sinks.ts';

type Line = { level: string; type: string; timestamp: string; detail: Record<string, unknown> };

const database = testDatabase();
let text: string;
let lines: readonly Line[];

/** Every secret says that it is one. */
const ADMIN = 'secret-of-the-administrator';
const HOOK_TOKEN = 'secret-of-the-hook';
const USER = { authorization: 'Bearer secret-token', cookie: 'session=secret-cookie' };

beforeAll(async () => {
  const hook = createServer((request, response) => {
    if (request.url === '/act') return response.end('true');
    if (request.url === '/validate') return response.writeHead(400).end('{"message":"no"}');
    response.end('{"x-engine-role":"reader","x-engine-user-id":"7"}');
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const { port } = hook.address() as AddressInfo;
  await database.sql('create table book (id serial primary key, title text)');
  const file = join(mkdtempSync(join(tmpdir(), 'pergola-log-')), 'log');
  const log = openLog({ logLevel: 'debug', enabledLogTypes: LOG_TYPES }, openSync(file, 'w'));
  const engine = await startTestEngine({
    databaseUrl: database.url,
    enabledLogTypes: LOG_TYPES,
    adminSecret: ADMIN,
    authHook: `http://secret-user:secret-password@127.0.0.1:${port}/auth?token=${HOOK_TOKEN}`,
    log,
  });
  log.observe({ kind: 'started', url: engine.url, version: '0', settings: loadedSettings(port, HOOK_TOKEN) });
  await happenings(engine, `http://127.0.0.1:${port}`);
  await engine.close();
  log.flush();
  hook.close();
  text = readFileSync(file, 'utf8');
  lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
});

async function happenings(engine: TestEngine, hook: string): Promise<void> {
  await engine.admin('pg_track_table', { table: 'book' });
  const definition = { handler: `${hook}/act`, output_type: 'Boolean!', kind: 'synchronous' };
  await engine.admin('create_action', { name: 'act', definition });
  await engine.graphql('mutation { act }');
  const validate_input = { type: 'http', definition: { url: `${hook}/validate` } };
  await engine.admin('pg_create_insert_permission', {
    ...{ table: 'book', role: 'writer' },
    permission: { check: {}, columns: ['title'], validate_input },
  });
  await engine.graphql('mutation ($t: String) { insert_book(objects: {title: $t}) { affected_rows } }', {
    role: 'writer',
    variables: { t: 'secret-title' },
  });
  const permission = { columns: ['id'], filter: {} };
  await engine.admin('pg_create_select_permission', { table: 'book', role: 'reader', permission });
  const url = 'postgres://someone:secret-password@127.0.0.1:1/nowhere?options=secret-option';
  const configuration = { connection_info: { database_url: url } };
  await engine.admin('pg_add_source', { name: 'broken', configuration });
  await engine.admin('set_opentelemetry_config', {
    exporter_otlp: { headers: [{ name: 'x-key', value: 'secret-key' }] },
  });
  await engine.graphql('query ($t: String) { book(where: {title: {_eq: $t}}) { id } }', {
    variables: { t: 'secret-variable' },
  });
  await engine.graphql('{ book { id } }', { role: null, headers: USER });
  await engine.graphql('{ book { title } }', { role: null, headers: USER });
  await engine.graphql('{ a }', { headers: { 'x-engine-admin-secret': 'secret-guess' } });
  const socket = await openSocket(engine.url, 'graphql-transport-ws', USER);
  socket.send({ type: 'connection_init', payload: { headers: USER } });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription Books { book { id } }' } });
  await socket.next();
  socket.send({ type: 'complete', id: '1' });
  socket.send({ type: 'subscribe', id: '2', payload: { query: '{ book { title } }' } });
  await socket.next();
  socket.close();
  await socket.closed;
}

const of = (type: string) => lines.filter((line) => line.type === type);

test('every line has a timestamp, a level, a type and a detail', () => {
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    expect(Object.keys(line).sort()).toEqual(['detail', 'level', 'timestamp', 'type']);
    expect(new Date(line.timestamp).getTime()).not.toBeNaN();
  }
});

test('no line contains a secret', () => {
  expect(text.split('\n').filter((line) => line.includes('secret-'))).toEqual([]);
});

test('a query log has the query and its statements, but no variables', () => {
  const line = of('query-log').find(({ detail }) => detail['kind'] === 'database');
  expect(line?.detail).toMatchObject({ kind: 'database', query: { query: expect.stringContaining('$t') } });
  expect(JSON.stringify(line?.detail['generated_sql'])).toContain('select');
});

test('a query log says what answered', () => {
  const kinds = of('query-log').map(({ detail }) => detail['kind']);
  expect(kinds.slice(0, 2)).toEqual(['action', 'database']);
});

test('a webhook log has URL, method and result', () => {
  expect(of('webhook-log').find(({ detail }) => detail['purpose'] === 'auth-hook')?.detail).toMatchObject({
    method: 'GET',
    status: 200,
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/auth$/),
  });
});

test('an execution log has the time of an operation and the number of its statements', () => {
  expect(of('execution-log')).toHaveLength(of('query-log').length);
  expect(of('execution-log')[0]?.detail).toEqual({
    request_id: expect.any(String),
    statistics: { execution_time: expect.any(Number), statements: expect.any(Number) },
  });
});

test('logs of actions and validations have names, sizes and results, but no bodies', () => {
  const called = (url: RegExp, status: number) => ({
    request_id: expect.any(String),
    request: { method: 'POST', url: expect.stringMatching(url) },
    request_size: expect.any(Number),
    response: { status, failure: null },
    response_size: expect.any(Number),
    duration: expect.any(Number),
  });
  expect(of('action-handler-log').map(({ detail }) => detail)).toEqual([
    { action_name: 'act', ...called(/\/act$/, 200), response_size: 4 },
  ]);
  expect(of('validate-input-log').map(({ detail }) => detail)).toEqual([called(/\/validate$/, 400)]);
});

test('a poller log has the statement, the numbers of cohorts and subscribers, and the time', () => {
  const { detail } = of('livequery-poller-log')[0]!;
  expect(detail).toEqual({
    kind: 'live-query',
    poller_id: expect.any(String),
    source: 'default',
    generated_sql: expect.stringContaining('select'),
    subscriber_count: 1,
    execution_batches: [{ batch_id: 1, batch_size: 1, db_execution_time: expect.any(Number) }],
    total_time: expect.any(Number),
    subscription_options: { batch_size: 100, refetch_delay: 1 },
  });
});

test('a websocket log has the events of the connection in order', () => {
  const events = of('websocket-log').map(({ level, detail }) => {
    const { type, detail: more } = detail['event'] as {
      type: string;
      detail: Record<string, unknown> | null;
    };
    const operation = more?.['operation_type'] as { type: string } | undefined;
    return `${level} ${type}${operation ? ` ${more?.['operation_id']} ${operation.type}` : ''}`;
  });
  expect(events).toEqual([
    'info accepted',
    'info connection_initialized',
    'info operation 1 started',
    'info operation 1 stopped',
    'error operation 2 query_err',
    'info closed',
  ]);
  expect(of('websocket-log')[2]?.detail).toMatchObject({
    event: { detail: { operation_name: null, query: null } },
    user_vars: { 'x-engine-role': 'reader' },
  });
});

test('an http log has the session, and the query only if it failed', () => {
  const [good, bad] = of('http-log').filter(({ detail }) => {
    const { user_vars: vars } = detail['operation'] as { user_vars: Record<string, string> | null };
    return vars?.['x-engine-user-id'] === '7';
  });
  expect(good).toMatchObject({ level: 'info', detail: { operation: { query: null } } });
  expect(bad).toMatchObject({
    level: 'error',
    detail: { operation: { query: { query: '{ book { title } }' } } },
  });
});
