/** Tests traces of a real engine: they continue the caller's trace, contain the steps of an operation, and contain no
 *  values. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type RemotePeer, startRemote } from '../../testing/remote.ts';
import { openSocket } from '../../testing/websocket.ts';
import { type Collector, type ReadSpan, startCollector } from '../observe/testing/otlp.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const JOINED = { traceparent: `00-${TRACE}-${CALLER}-01` };

let database: TestDatabase;
let collector: Collector;
let engine: TestEngine;
let hookUrl: string;
const hookHeaders: IncomingHttpHeaders[] = [];

beforeAll(async () => {
  const hook = createServer((request, response) => {
    hookHeaders.push(request.headers);
    response.end();
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/?token=secret-of-the-hook`;
  [database, collector] = await Promise.all([createDatabase(), startCollector()]);
  await database.sql('create table book (id serial primary key, title text)');
  engine = await startTestEngine({ databaseUrl: database.url, env: { KEY: 'secret-of-the-collector' } });
  await engine.admin('pg_track_table', { table: 'book' });
  await engine.admin('pg_create_insert_permission', {
    table: 'book',
    role: 'writer',
    permission: {
      columns: ['title'],
      check: {},
      validate_input: { type: 'http', definition: { url: hookUrl } },
    },
  });
  const exporter_otlp = {
    otlp_traces_endpoint: collector.url,
    headers: [{ name: 'x-key', value_from_env: 'KEY' }],
    resource_attributes: [{ name: 'deployment', value: 'blue' }],
    traces_propagators: ['b3', 'tracecontext'],
  };
  const answer = await engine.admin('set_opentelemetry_config', {
    status: 'enabled',
    data_types: ['traces'],
    exporter_otlp,
    batch_span_processor: { max_export_batch_size: 1 },
  });
  expect(answer.body).toEqual({ message: 'success' });
  return () => hook.close();
});
afterAll(async () => {
  await engine?.close();
  collector?.close();
  await database?.drop();
});

/** Returns the spans of `body`; each is exported at once. */
async function spansOf(body: () => Promise<unknown>, count: number): Promise<readonly ReadSpan[]> {
  collector.spans.length = 0;
  await body();
  await expect.poll(() => collector.spans.length).toBe(count);
  return [...collector.spans];
}

const named = (spans: readonly ReadSpan[], name: string) => spans.find((span) => span.name === name);

test('an operation continues the trace of its caller, with spans for its plan and its statement', async () => {
  const spans = await spansOf(() => engine.graphql('{ book { id } }', { headers: JOINED }), 3);
  const root = named(spans, 'graphql')!;
  expect(root).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, kind: 2, failure: null });
  expect(root.attributes).toMatchObject({ 'graphql.operation.type': 'query', 'pergola.transport': 'http' });
  expect(root.resource).toMatchObject({ 'service.name': 'pergola', deployment: 'blue' });
  expect(named(spans, 'plan')).toMatchObject({ traceId: TRACE, parentSpanId: root.spanId, kind: 1 });
  expect(named(spans, 'statement')).toMatchObject({ traceId: TRACE, parentSpanId: root.spanId, kind: 3 });
  expect(collector.headers.at(-1)).toMatchObject({
    'content-type': 'application/x-protobuf',
    'x-key': 'secret-of-the-collector',
  });
});

test('a webhook has a span and receives the trace; values and secrets are not in it', async () => {
  const spans = await spansOf(
    () =>
      engine.graphql('mutation ($t: String) { insert_book(objects: {title: $t}) { affected_rows } }', {
        role: 'writer',
        headers: { b3: `${TRACE}-${CALLER}-1` },
        variables: { t: 'secret-of-a-user' },
      }),
    4,
  );
  const webhook = named(spans, 'input-validation')!;
  expect(webhook).toMatchObject({ traceId: TRACE, kind: 3 });
  expect(webhook.parentSpanId).toBe(named(spans, 'graphql')!.spanId);
  expect(hookHeaders.at(-1)).toMatchObject({
    traceparent: `00-${TRACE}-${webhook.spanId}-01`,
    'x-b3-traceid': TRACE,
    'x-b3-spanid': webhook.spanId,
  });
  const told = JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  expect(told).toContain('insert into');
  expect(told).not.toContain('secret');
});

test('a remote schema has a span and receives the trace', async () => {
  const remote = await startRemote('type Query { far: String }', { 'Query.far': () => 'away' });
  onTestFinished(remote.close);
  await engine.admin('add_remote_schema', { name: 'away', definition: { url: `${remote.url}?key=secret` } });
  const spans = await spansOf(() => engine.graphql('{ far }', { headers: JOINED }), 3);
  const asked = named(spans, 'remote-schema')!;
  expect(asked).toMatchObject({ traceId: TRACE, parentSpanId: named(spans, 'graphql')!.spanId, kind: 3 });
  expect(asked.attributes).toEqual({ 'http.request.method': 'POST', 'url.full': remote.url });
  expect(remote.asked.at(-1)?.headers).toMatchObject({ traceparent: `00-${TRACE}-${asked.spanId}-01` });
});

test('so does a subscription, until it has started', async () => {
  const remote = await startRemote('type Query { near: String } type Subscription { ticks: Int }');
  onTestFinished(remote.close);
  await engine.admin('add_remote_schema', { name: 'clock', definition: { url: `${remote.url}?key=secret` } });
  const peers: RemotePeer[] = [];
  remote.takeSockets('graphql-transport-ws', (peer) => peers.push(peer));
  const client = await openSocket(engine.url, 'graphql-transport-ws');
  onTestFinished(() => client.socket.terminate());
  const headers = { 'x-engine-admin-secret': engine.adminSecret, ...JOINED };
  client.send({ type: 'connection_init', payload: { headers } });
  await client.next();
  const spans = await spansOf(async () => {
    client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { ticks }' } });
    await expect.poll(() => peers.length).toBe(1);
    peers[0]!.send({ type: 'connection_ack' });
  }, 3);
  const asked = named(spans, 'remote-schema')!;
  expect(asked).toMatchObject({ parentSpanId: named(spans, 'graphql')!.spanId, kind: 3, failure: null });
  expect(asked.attributes).toEqual({ 'http.request.method': 'GET', 'url.full': remote.url });
  expect(peers[0]!.headers).toMatchObject({ traceparent: expect.stringContaining(asked.spanId) });
});

test('a failure is recorded with its code; without a caller there is a new trace', async () => {
  const [span] = (await spansOf(() => engine.graphql('{ nothing }'), 2)).filter(
    ({ name }) => name === 'graphql',
  );
  expect(span).toMatchObject({ failure: 'validation-failed', parentSpanId: '' });
  expect(span!.traceId).not.toBe(TRACE);
});

test('nothing is recorded if the caller did not sample its trace, or an administrator disabled tracing', async () => {
  await engine.graphql('{ book { id } }', { headers: { traceparent: `00-${TRACE}-${CALLER}-00` } });
  await engine.admin('set_opentelemetry_status', { status: 'disabled' });
  await engine.graphql('{ book { id } }', { headers: JOINED });
  expect(await spansOf(() => engine.graphql('{ book { id } }'), 0)).toEqual([]);
  await engine.admin('set_opentelemetry_status', { status: 'enabled' });
  expect(await spansOf(() => engine.graphql('{ book { id title } }'), 3)).toHaveLength(3);
});

test('options enable traces too, and the rest is sent when the engine stops', async () => {
  const other = await createDatabase();
  const own = await startTestEngine({ databaseUrl: other.url, otlpTracesEndpoint: collector.url });
  collector.spans.length = 0;
  await own.graphql('{ __typename }', { headers: JOINED });
  await own.close();
  expect(named(collector.spans, 'graphql')).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  await other.drop();
});

test('an endpoint that is not a URL is in the log, and the engine goes on', async () => {
  const kinds: string[] = [];
  const log = {
    observe: (one: { kind: string; event?: { kind: string } }) =>
      void kinds.push(one.event?.kind ?? one.kind),
    flush: () => {},
  };
  const other = await startTestEngine({ databaseUrl: database.url, log: log as never });
  for (const endpoint of ['a', 'ftp://collector/v1', 'http://']) {
    const { status } = await other.admin('set_opentelemetry_config', {
      status: 'enabled',
      data_types: ['traces', 'logs', 'metrics'],
      exporter_otlp: {
        otlp_traces_endpoint: endpoint,
        otlp_logs_endpoint: endpoint,
        otlp_metrics_endpoint: endpoint,
      },
    });
    expect(status).toBe(200);
    expect((await other.graphql('{ __typename }')).data).toEqual({ __typename: 'query_root' });
    expect(kinds).toEqual(
      expect.arrayContaining(['traces not exported', 'logs not exported', 'metrics not exported']),
    );
    kinds.length = 0;
  }
  await other.close();
});
