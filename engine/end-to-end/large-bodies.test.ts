/** Tests that no body of a role makes others wait: the longest turn of the event loop for each of LARGE_BODIES, which are as long as the default
 *  of --max-role-body-length allows, over HTTP and over a WebSocket. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { salted } from '../../testing/amplification/generators.ts';
import { createAmplificationWorld } from '../../testing/amplification/world.ts';
import { LARGE_BODIES, MOST_BYTES } from '../../testing/attack/large-bodies.ts';
import { type EngineApart, startEngineApart } from '../../testing/engine-apart.ts';
import { isWithin } from '../../testing/machine-speed.ts';
import { openSocket, type TestSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

/** The most processor time of a turn on a usual machine, in milliseconds. Most take 60 to 130 when
 *  nothing else runs, and almost twice as long while the other thread of the core is busy. */
const MOST_MS = 250;
/** A collection of memory may fall into any turn. */
const TRIES = 3;

const database = testDatabase();
let engine: EngineApart;
let socket: TestSocket;

beforeAll(async () => {
  engine = await startEngineApart(database.url, { flags: ['--unauthorized-role', 'anonymous'] });
  await createAmplificationWorld(database.url, engine.url, { adminSecret: engine.adminSecret });
  socket = await openSocket(engine.url, 'graphql-transport-ws');
  socket.send({ type: 'connection_init' });
  expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
});
afterAll(async () => {
  socket?.close();
  engine?.close();
});

function messageOf(name: string): string {
  return LARGE_BODIES.find((each) => each.name === name)!.bodyOf(MOST_BYTES - 1000);
}

async function expectShortTurns(send: (attempt: number) => Promise<string>): Promise<void> {
  const turnsMs: number[] = [];
  do {
    await engine.longestTurnMs();
    expect(await send(turnsMs.length)).not.toContain('"unexpected"');
    turnsMs.push(await engine.longestTurnMs());
    if (isWithin(turnsMs.at(-1)!, MOST_MS)) return;
  } while (turnsMs.length < TRIES);
  expect.fail(`each turn was too long: ${turnsMs.map(Math.round).join(', ')} ms`);
}

test.each(LARGE_BODIES)(
  'nobody waits for $name',
  { timeout: 60_000 },
  async ({ path, contentType, bodyOf }) => {
    const body = bodyOf(MOST_BYTES);
    const headers = { 'content-type': contentType };
    await expectShortTurns(async (attempt) => {
      const init = { method: 'POST', headers, body: salted(body, attempt) };
      const response = await fetch(engine.url + path, init);
      return response.text();
    });
  },
);

test.each(['a list of digits', 'JSON of keys', 'long objects'])(
  'nobody waits for a message of %s',
  { timeout: 60_000 },
  async (name) => {
    const payload = messageOf(name);
    await expectShortTurns(async () => {
      socket.send(`{"type":"subscribe","id":"1","payload":${payload}}`);
      const texts: string[] = [];
      for (let type = ''; type !== 'complete' && type !== 'error'; ) {
        const message = await socket.next(30_000);
        texts.push(JSON.stringify(message));
        type = String((message as { type: string }).type);
      }
      return texts.join();
    });
  },
);

test('messages after a long one are handled after it', async () => {
  const other = await openSocket(engine.url, 'graphql-transport-ws');
  other.send({ type: 'connection_init' });
  expect(await other.next()).toMatchObject({ type: 'connection_ack' });
  other.send(`{"type":"subscribe","id":"1","payload":${messageOf('a list of texts')}}`);
  other.send({ type: 'subscribe', id: '1', payload: { query: '{ __typename }' } });
  expect(await other.closed).toEqual({ code: 4409, reason: 'Subscriber for 1 already exists' });
});

test('a message with more objects than a request may have closes the connection, before it is parsed', async () => {
  const other = await openSocket(engine.url, 'graphql-transport-ws');
  other.send({ type: 'connection_init' });
  expect(await other.next()).toMatchObject({ type: 'connection_ack' });
  other.send(`{"type":"subscribe","id":"1","payload":${messageOf('JSON of numbers')}}`);
  expect(await other.closed).toEqual({ code: 1009, reason: 'the request has more than 200000 input values' });
});
