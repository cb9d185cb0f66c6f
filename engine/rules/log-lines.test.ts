/** Tests the members of log lines: for each type and each outcome of what it is about, exactly those of the reference engine, and those
 *  that are added. Reference: docs/reference/behaviour/observability.md. */
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openSocket } from '../../testing/websocket.ts';
import { LOG_TYPES } from '../observe/observation.ts';
import { openLog } from '../observe/sinks.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

type Detail = Readonly<Record<string, unknown>>;
type Line = { readonly level: string; readonly type: string; readonly detail: Detail };

const file = join(mkdtempSync(join(tmpdir(), 'pergola-log-lines-')), 'log');
const log = openLog({ logLevel: 'info', enabledLogTypes: LOG_TYPES }, openSync(file, 'w'));
const lines = (type: string): readonly Line[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line): Line => JSON.parse(line))
    .filter((line) => line.type === type);

/** Answers with the status in its path. */
const service = createServer(async (request, response) => {
  for await (const _ of request);
  response.writeHead(Number(request.url?.slice(1, 4))).end('{"x-engine-role":"planted"}');
});

let world: RuleWorld;
let base: string;
beforeAll(async () => {
  await once(service.listen(0, '127.0.0.1'), 'listening');
  base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  world = await startWorld({
    sql: 'create table note (id int primary key)',
    tables: ['note'],
    options: { log, enabledLogTypes: LOG_TYPES, eventsFetchInterval: 20 },
  });
}, 180_000);
afterAll(async () => {
  await world?.close();
  service.close();
});

const keys = (value: unknown) => Object.keys(value as object).sort();

/** Waits for the line of a type that satisfies the condition. */
function lineOf(type: string, isWanted: (detail: Detail) => boolean): Promise<Line> {
  const find = () => lines(type).find(({ detail }) => isWanted(detail));
  return vi.waitFor(
    () => {
      const line = find();
      expect(line).toBeDefined();
      return line!;
    },
    { timeout: 15_000, interval: 50 },
  );
}

// ── http-log ──

const GOOD = { query: '{ note { id } }' };
const BAD = { query: '{ nothing { id } }' };
const EXPORT = { type: 'export_metadata', args: {} };
const HTTP: readonly [string, string, unknown, { mode: string; status: number; isError: boolean }][] = [
  ['a query', '/v1/graphql', GOOD, { mode: 'single', status: 200, isError: false }],
  ['a query that is refused', '/v1/graphql', BAD, { mode: 'error', status: 200, isError: true }],
  ['a batch', '/v1/graphql', [GOOD, GOOD], { mode: 'batched', status: 200, isError: false }],
  ['a query on the older path', '/v1alpha1/graphql', GOOD, { mode: 'single', status: 200, isError: false }],
  ['an operation', '/v1/metadata', EXPORT, { mode: 'non-graphql', status: 200, isError: false }],
  [
    'an operation that is refused',
    '/v1/metadata',
    { type: 'no' },
    { mode: 'error', status: 400, isError: true },
  ],
];

test.each(HTTP)('http-log of %s', async (_, path, body, { mode, status, isError }) => {
  const id = crypto.randomUUID();
  await world.engine.fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-request-id': id },
  });
  const { level, detail } = await lineOf('http-log', ({ request_id }) => request_id === id);
  expect(level).toBe(isError ? 'error' : 'info');
  expect(keys(detail)).toEqual(['http_info', 'operation', 'request_id']);
  expect(detail['http_info']).toEqual({
    ...{ status, http_version: 'HTTP/1.1', url: path, method: 'POST' },
    ip: expect.stringContaining('127.0.0.1'),
  });
  const operation = detail['operation'] as Detail;
  expect(operation).toEqual({
    request_id: id,
    request_mode: mode,
    query_execution_time: expect.any(Number),
    response_size: expect.any(Number),
    user_vars: { 'x-engine-role': 'admin' },
    error: isError ? { path: expect.any(String), error: expect.any(String), code: expect.any(String) } : null,
    query: isError && path !== '/v1/metadata' ? body : null,
  });
});

// ── websocket-log ──

test('websocket-log of each event', async () => {
  const secret = { 'x-engine-admin-secret': world.engine.adminSecret };
  const socket = await openSocket(world.engine.url, 'graphql-transport-ws', {});
  socket.send({ type: 'connection_init', payload: { headers: secret } });
  await socket.next();
  for (const [id, request] of Object.entries({ good: GOOD, bad: BAD })) {
    socket.send({ type: 'subscribe', id, payload: request });
    await socket.next();
  }
  socket.close();
  await socket.closed;
  await lineOf('websocket-log', ({ event }) => (event as Detail)['type'] === 'closed');
  const found = lines('websocket-log');
  for (const { detail } of found) {
    expect(keys(detail)).toEqual(['connection_info', 'event', 'user_vars']);
    expect(keys(detail['event'])).toEqual(['detail', 'type']);
    expect(keys(detail['connection_info'])).toEqual(['jwt_expiry', 'msg', 'websocket_id']);
  }
  const operations = found
    .map(({ detail }) => detail['event'] as Detail)
    .filter(({ type }) => type === 'operation');
  expect(operations.map(({ detail }) => (detail as Detail)['operation_id'])).toContain('bad');
  for (const { detail } of operations) {
    const { operation_id: id, operation_type: type, query } = detail as Detail;
    expect(keys(detail)).toEqual(['operation_id', 'operation_name', 'operation_type', 'query', 'request_id']);
    const isFailure = (type as Detail)['type'] === 'query_err';
    expect(isFailure).toBe(id === 'bad');
    expect(keys(type)).toEqual(isFailure ? ['detail', 'type'] : ['type']);
    expect(query).toBe(isFailure ? BAD.query : null);
  }
});

// ── query-log ──

test.each([
  ['database', GOOD.query, true],
  ['introspection', '{ __schema { queryType { name } } }', false],
])('query-log of kind %s', async (kind, query, hasStatement) => {
  await world.engine.graphql(query);
  const { detail } = await lineOf('query-log', (found) => (found['query'] as Detail)['query'] === query);
  expect(keys(detail)).toEqual(['generated_sql', 'kind', 'query', 'request_id']);
  expect(detail['kind']).toBe(kind);
  expect(detail['generated_sql'] === null).toBe(!hasStatement);
});

// ── deliveries of events ──

const REFUSED = 'http://127.0.0.1:1/000';
const DELIVERIES: readonly [string, () => string, unknown][] = [
  ['200', () => `${base}/200`, { status: 200, size: 27 }],
  ['500', () => `${base}/500`, { type: 'status', detail: { status: 500, size: 27 } }],
  ['refused', () => REFUSED, { type: 'client', detail: expect.any(String) }],
];

test.each(DELIVERIES)('event-trigger of a delivery that ends with %s', async (name, urlOf, response) => {
  const trigger = `changed_${name}`;
  const definition = {
    name: trigger,
    source: 'default',
    table: 'note',
    webhook: urlOf(),
    insert: { columns: '*' },
  };
  const retry_conf = { num_retries: 0, interval_sec: 1, timeout_sec: 5 };
  const created = await world.engine.admin('pg_create_event_trigger', { ...definition, retry_conf });
  expect(created.status).toBe(200);
  const id = DELIVERIES.findIndex(([each]) => each === name);
  await world.engine.graphql(`mutation { insert_note_one(object: {id: ${id}}) { id } }`);
  const { level, detail } = await lineOf('event-trigger', ({ event_name }) => event_name === trigger);
  expect(level).toBe(name === '200' ? 'info' : 'error');
  const request = { method: 'POST', url: urlOf(), size: expect.any(Number) };
  expect(detail).toEqual({ event_id: expect.any(String), event_name: trigger, request, response });
});

test.each(DELIVERIES)('scheduled-trigger of a delivery that ends with %s', async (name, urlOf, response) => {
  const { body } = await world.engine.admin<{ event_id: string }>('create_scheduled_event', {
    webhook: urlOf(),
    schedule_at: new Date().toISOString(),
    retry_conf: { num_retries: 0, retry_interval_seconds: 1, timeout_seconds: 5, tolerance_seconds: 3600 },
  });
  const { level, detail } = await lineOf('scheduled-trigger', ({ event_id }) => event_id === body.event_id);
  expect(level).toBe(name === '200' ? 'info' : 'error');
  const request = { method: 'POST', url: urlOf(), size: expect.any(Number) };
  expect(detail).toEqual({ event_id: body.event_id, request, response });
});

test('webhook-log has the names of the reference engine and ours, and no line has a body', async () => {
  await lineOf('webhook-log', ({ url }) => url === REFUSED);
  for (const { level, detail } of lines('webhook-log')) {
    const reference = ['http_error', 'message', 'method', 'response', 'status_code', 'url'];
    expect(keys(detail)).toEqual([...reference, 'duration', 'failure', 'purpose', 'status'].sort());
    expect([detail['status_code'], detail['http_error']]).toEqual([detail['status'], detail['failure']]);
    expect(level === 'error').toBe(detail['status'] === null);
  }
  expect(readFileSync(file, 'utf8')).not.toContain('planted');
});
