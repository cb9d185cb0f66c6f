/** Tests that a long answer of a remote schema is in the engine's memory only once. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EngineApart, startEngineApart } from '../../testing/engine-apart.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testDatabase } from '../../testing/world.ts';

const SIZE = 100_000_000;

const database = testDatabase();
let engine: EngineApart;
let remote: RemoteService;
let answer: Buffer;

beforeAll(async () => {
  remote = await startRemote('type Item { id: Int text: String } type Query { items: [Item!] }', {
    'Query.items': () => [],
  });
  engine = await startEngineApart(database.url);
  await post('/v1/metadata', {
    type: 'add_remote_schema',
    args: { name: 'far', definition: { url: remote.url } },
  });
  const item = `{"id":12345,"text":"${'ä'.repeat(480)}"}`;
  const items = Array.from({ length: SIZE / 1000 }, () => item).join(',');
  answer = Buffer.from(`{"data":{"items":[${items}]}}`);
});
afterAll(async () => {
  engine?.close();
  await remote?.close();
});

/** Returns the number of bytes of the answer, without keeping them. */
async function post(path: string, body: object): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-engine-admin-secret': engine.adminSecret };
  const asking = request(engine.url + path, { method: 'POST', headers });
  asking.end(JSON.stringify(body));
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  return bytes;
}

test('an answer of 100 MB is in memory once, and once more in the blocks that it arrived in', async () => {
  const query = { query: '{ items { id text } }' };
  for (let i = 0; i < 20; i++) await post('/v1/graphql', query);
  const before = await engine.usage();
  remote.misbehave((_, response) => {
    response.setHeader('content-length', answer.length);
    response.end(answer);
  });
  expect(await post('/v1/graphql', query)).toBe(answer.length);
  const { mostBytes } = await engine.usage();
  // Bytes that were read and are not collected yet are 80 MB at most, whatever the length. The blocks are used again.
  expect((mostBytes - before.bytes) / answer.length).toBeLessThan(2.8);
});
