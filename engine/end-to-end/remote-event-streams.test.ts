/** Tests subscriptions to a remote schema that accepts no WebSockets and answers with server-sent events: the
 *  request, how they end, and that the WebSocket is not tried each time. The stream of a library is in
 *  remote-peers.test.ts. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { startRemote } from '../../testing/remote.ts';
import { openSession } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

type Asked = {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly response: ServerResponse;
};

const database = testDatabase();
let engine: TestEngine;
let url: string;
let streams: Asked[] = [];
let handshakes = 0;
/** How the service answers a request for a stream. */
let answer: (response: ServerResponse) => void;
const begin = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).write(':\n\n');

let introspected: (body: string) => Promise<Response>;
const service = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', async () => {
    if (request.headers.upgrade) {
      handshakes++;
      response.writeHead(405).end('no');
    } else if (request.headers.accept === 'text/event-stream') {
      streams.push({ headers: request.headers, body: JSON.parse(text), response });
      answer(response);
    } else {
      response.end(await (await introspected(text)).text());
    }
  });
});

beforeAll(async () => {
  const schema = await startRemote(`
    type Tick { n: Int! at: String } type Query { now: Tick } type Subscription { ticks(from: Int): Tick }`);
  introspected = (body) => fetch(schema.url, { method: 'POST', body });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/graphql`;
  engine = await startTestEngine({
    databaseUrl: database.url,
    enabledApis: ['metadata', 'graphql', 'metrics'],
    liveQueriesMultiplexedRefetchInterval: 50,
  });
  return schema.close;
});
afterAll(async () => {
  service.close();
  service.closeAllConnections();
  await engine?.close();
});
beforeEach(async () => {
  streams = [];
  answer = begin;
  await engine.admin('clear_metadata', {});
  const definition = { url, timeout_seconds: 5, headers: [{ name: 'x-mine', value: 'yes' }] };
  await engine.must('add_remote_schema', { name: 'clock', definition });
  handshakes = 0;
});

const QUERY = 'subscription T($from: Int) { t: ticks(from: $from) { n at } }';

async function subscribe(query = QUERY) {
  const client = await openSession(engine, { 'x-engine-user-id': '7' });
  onTestFinished(() => client.socket.terminate());
  client.send({ type: 'subscribe', id: 'a', payload: { query, variables: { from: 3 } } });
  return client;
}

async function streamed(many = 1): Promise<Asked> {
  await expect.poll(() => streams.length, { timeout: 15_000 }).toBe(many);
  return streams.at(-1)!;
}

const next = (payload: unknown) => ({ type: 'next', id: 'a', payload });
const lost = (message: unknown) => ({
  type: 'error',
  payload: [{ path: ['t'], extensions: { code: 'remote-schema-error', internal: { message } } }],
});

test('it has a request of its own, and every event is sent when it arrives, up to the last', async () => {
  const client = await subscribe();
  const { headers, body, response } = await streamed();
  expect(headers).toMatchObject({ 'x-mine': 'yes', 'x-engine-role': 'admin', 'x-engine-user-id': '7' });
  expect(JSON.stringify(headers)).not.toContain(engine.adminSecret);
  const query = 'subscription T($from:Int){t:ticks(from:$from){n at}}';
  expect(body).toEqual({ query, variables: { from: 3 }, operationName: 'T' });
  response.write('event: next\ndata: {"data":{"t":{"n":1,"at":"\u00e9"}}}\n\nevent: ne');
  expect(await client.next()).toEqual(next({ data: { t: { n: 1, at: 'é' } } }));
  response.write('xt\r\ndata: {"data":\r\ndata: {"t":null}}\r\n\r\n');
  expect(await client.next()).toEqual(next({ data: { t: null } }));
  response.write('event: complete\n\n');
  expect(await client.next()).toEqual({ type: 'complete', id: 'a' });
  await expect.poll(() => response.destroyed).toBe(true);
});

test('after a stream, the WebSocket is not tried again until the next introspection', async () => {
  await subscribe();
  await streamed();
  await subscribe();
  await streamed(2);
  expect(handshakes).toBe(1);
  await engine.admin('reload_remote_schema', { name: 'clock' });
  await subscribe();
  await streamed(3);
  expect(handshakes).toBe(2);
});

test('when the service stops streaming, the WebSocket is tried again', async () => {
  await subscribe();
  await streamed();
  answer = (response) => void response.writeHead(404).end('gone');
  expect(await (await subscribe()).next()).toMatchObject(
    lost('No stream of events: the answer has status 404'),
  );
  expect(handshakes).toBe(1);
  const again = 'No WebSocket: the answer has status 405. No stream of events: the answer has status 404';
  expect(await (await subscribe()).next()).toMatchObject(lost(again));
  expect(handshakes).toBe(2);
});

test('it ends at the service when the client ends it or disconnects', async () => {
  const count = async () => {
    const text = await (await engine.fetch('/v1/metrics')).text();
    return /^pergola_remote_subscriptions (\d+)$/m.exec(text)?.[1];
  };
  const client = await subscribe();
  const { response } = await streamed();
  await expect.poll(count).toBe('1');
  client.send({ type: 'complete', id: 'a' });
  await expect.poll(() => response.destroyed).toBe(true);
  const other = await subscribe();
  const second = await streamed(2);
  other.socket.terminate();
  await expect.poll(() => second.response.destroyed).toBe(true);
  await expect.poll(count).toBe('0');
});

test('when the service refuses it, it ends with the errors of the service', async () => {
  answer = (response) => void response.writeHead(400).end('{"errors":[{"message":"not today"}]}');
  expect(await (await subscribe()).next()).toEqual({
    type: 'error',
    id: 'a',
    payload: [{ message: 'not today' }],
  });
});

test.each<[string, string, (response: ServerResponse) => void]>([
  ['ends without a last event', 'The stream of events ended', (response) => response.end()],
  ['is cut off', 'Connection failure: aborted', (response) => response.destroy()],
])('a stream that %s ends with an error at its path', async (_, message, misbehave) => {
  const client = await subscribe();
  misbehave((await streamed()).response);
  expect(await client.next()).toMatchObject(lost(message));
});

test.each<[string, (response: ServerResponse) => void]>([
  ['', () => {}],
  [' to its end', (response) => void response.writeHead(200).write('{"errors":')],
])('a service that does not answer in time%s is told of', async (_, slow) => {
  answer = slow;
  const definition = { url, timeout_seconds: 1 };
  await engine.admin('update_remote_schema', { name: 'clock', definition });
  const message = expect.stringMatching(
    /^No WebSocket: the answer has status 405. (Response timeout|No whole response)/,
  );
  expect(await (await subscribe()).next()).toMatchObject(lost(message));
});

test('it is as slow as its client: nothing is lost, and the service waits', async () => {
  const client = await subscribe();
  const { response } = await streamed();
  client.socket.pause();
  const at = 'x'.repeat(1_000_000);
  for (let n = 0; n < 32; n++)
    response.write(`event: next\ndata: {"data":{"t":{"n":${n},"at":"${at}"}}}\n\n`);
  // Bytes that the service cannot send stay the same for a while.
  const waiting = async () => {
    const before = response.writableLength;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return before === response.writableLength && before > 5_000_000;
  };
  await expect.poll(waiting, { timeout: 20_000 }).toBe(true);
  client.socket.resume();
  for (let n = 0; n < 32; n++) expect(await client.next()).toMatchObject({ payload: { data: { t: { n } } } });
});
