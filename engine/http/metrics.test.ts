/** Tests GET /v1/metrics of a real engine: who has access, and the metrics after some events. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('create table book (id serial primary key, title text)');
  engine = await startTestEngine({
    databaseUrl: database.url,
    enabledApis: ['metadata', 'graphql', 'metrics'],
    metricsSecret: 'look',
    enableAllowlist: true,
  });
  await engine.admin('pg_track_table', { table: 'book' });
  await engine.admin('pg_create_select_permission', {
    table: 'book',
    role: 'reader',
    permission: { columns: ['id'], filter: {} },
  });
});
afterAll(async () => {
  await engine?.close();
  await database?.drop();
});

async function metrics(): Promise<ReadonlyMap<string, number>> {
  const text = await (await engine.fetch('/v1/metrics')).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/ (\S+)$/.exec(line)![1])]));
}

/** Returns how much the metrics increase while `body` runs. */
async function risen(body: () => Promise<unknown>): Promise<(series: string) => number> {
  const before = await metrics();
  await body();
  const after = await metrics();
  return (series) => (after.get(series) ?? 0) - (before.get(series) ?? 0);
}

const requests = (type: string, transport: string, status: string) =>
  `pergola_graphql_requests_total{operation_type="${type}",transport="${transport}",response_status="${status}"}`;

describe('a request', () => {
  const look = (headers: Record<string, string>) => fetch(`${engine.url}/v1/metrics`, { headers });

  test('succeeds with the metrics secret, or as an administrator', async () => {
    const answer = await look({ authorization: 'Bearer look' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect((await look({ 'x-engine-admin-secret': engine.adminSecret })).status).toBe(200);
  });

  test('is refused otherwise, without any metrics', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer looks' },
      { 'x-engine-admin-secret': engine.adminSecret, 'x-engine-role': 'reader' },
    ]) {
      const answer = await look(headers);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(await answer.text()).not.toContain('pergola_');
    }
  });

  test('is 404 when the API is disabled', async () => {
    const closed = await startTestEngine({ databaseUrl: database.url, metricsSecret: 'look' });
    expect((await closed.fetch('/v1/metrics')).status).toBe(404);
    await closed.close();
  });
});

describe('metrics count', () => {
  test('operations by kind, transport and outcome, with their errors and the time in Postgres', async () => {
    const by = await risen(async () => {
      await engine.graphql('{ book { id } }');
      await engine.graphql('{ book { id } }');
      await engine.graphql('mutation { insert_book_one(object: {title: "x"}) { id } }');
      await engine.graphql('{ nothing }');
    });
    expect(by(requests('query', 'http', 'success'))).toBe(2);
    expect(by(requests('mutation', 'http', 'success'))).toBe(1);
    expect(by(requests('unknown', 'http', 'failed'))).toBe(1);
    expect(by('pergola_graphql_errors_total{code="validation-failed"}')).toBe(1);
    expect(by('pergola_graphql_execution_time_seconds_count{operation_type="query"}')).toBe(2);
    expect(by('pergola_postgres_statement_seconds_count{source="default"}')).toBeGreaterThanOrEqual(3);
    expect(by('pergola_plan_cache_requests_total{result="hit"}')).toBeGreaterThanOrEqual(1);
    expect(by('pergola_http_requests_total{endpoint="/v1/graphql",status="2xx"}')).toBe(4);
  });

  test('each operation of a batch, and a refused batch once', async () => {
    await engine.admin('set_api_limits', { batch_limit: { global: 2 } });
    const send = (count: number) =>
      engine.fetch('/v1/graphql', {
        method: 'POST',
        headers: { 'x-engine-role': 'reader' },
        body: JSON.stringify(Array.from({ length: count }, () => ({ query: '{ __typename }' }))),
      });
    const by = await risen(async () => {
      await send(2);
      await send(3);
    });
    expect(by('pergola_refused_queries_total{reason="allow-list"}')).toBe(2);
    expect(by('pergola_limits_exceeded_total{limit="batch"}')).toBe(1);
  });

  test.for([
    ['depth', { depth_limit: { global: 1 } }, '{ __typename book { id } }'],
    ['node', { node_limit: { global: 1 } }, '{ a: book { id } b: book { id } }'],
    ['rate', { rate_limit: { global: { max_reqs_per_min: 0 } } }, '{ book { id } }'],
    ['response', { response_limit: { global: 1 } }, '{ __typename book { id } }'],
  ] as const)('an exceeded limit: %s', async ([limit, limits, query]) => {
    await engine.admin('set_api_limits', { ...limits, depth_limit: limit === 'depth' ? { global: 0 } : {} });
    await engine.admin('create_query_collection', {
      name: limit,
      definition: { queries: [{ name: 'q', query }] },
    });
    await engine.admin('add_collection_to_allowlist', { collection: limit });
    const by = await risen(() => engine.graphql(query, { role: 'reader' }));
    expect(by(`pergola_limits_exceeded_total{limit="${limit}"}`)).toBe(1);
    await engine.admin('remove_api_limits', {});
  });

  test('WebSockets and their operations, until they end', async () => {
    const socket = await openSocket(engine.url, 'graphql-transport-ws');
    const headers = { 'x-engine-admin-secret': engine.adminSecret };
    socket.send({ type: 'connection_init', payload: { headers } });
    await socket.next();
    const by = await risen(async () => {
      socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { book { id } }' } });
      await socket.next();
    });
    expect(by(requests('subscription', 'websocket', 'success'))).toBe(1);
    expect(by('pergola_active_subscriptions')).toBe(1);
    expect(by('pergola_subscription_pollers')).toBe(1);
    expect((await metrics()).get('pergola_websocket_connections')).toBe(1);
    socket.close();
    await socket.closed;
    await sleep(20);
    const after = await metrics();
    expect(after.get('pergola_websocket_connections')).toBe(0);
    expect(after.get('pergola_active_subscriptions')).toBe(0);
  });
});

test('metrics include the connections, the metadata and the process', async () => {
  const seen = await metrics();
  const connections = ['active', 'idle', 'opening'].map((state) =>
    seen.get(`pergola_postgres_connections{source="default",state="${state}"}`),
  );
  expect(connections.every((count) => count !== undefined && count >= 0)).toBe(true);
  expect(seen.get('pergola_postgres_connections_limit{source="default"}')).toBe(50);
  expect(seen.get('pergola_source_up{source="default"}')).toBe(1);
  expect(seen.get('pergola_metadata_resource_version')).toBeGreaterThan(2);
  expect(seen.get('pergola_metadata_inconsistent_objects')).toBe(0);
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_heap_size_used_bytes',
  ]) {
    expect(seen.get(name)).toBeGreaterThan(0);
  }
  // The others start anew at each scrape, and are not numbers when nothing has been measured since.
  expect(seen.get('nodejs_eventloop_lag_seconds')).toBeLessThan(10);
});

test('text from clients creates no series', async () => {
  await engine.fetch('/etc/passwd');
  await engine.fetch('/api/rest/secret-of-a-user');
  await engine.graphql('query secret_of_a_user { book { id } }', { role: 'secret-of-a-user' });
  const seen = [...(await metrics()).keys()].join('\n');
  expect(seen).not.toContain('secret-of-a-user');
  expect(seen).not.toContain('secret_of_a_user');
  expect(seen).not.toContain('passwd');
  expect(seen).toContain('endpoint="other"');
});
