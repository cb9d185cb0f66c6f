/** Tests that the WebSocket library reads the frames: messages around each form of the length, between its own frames. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { PING_FRAME, textFrame } from './frames.ts';

/** Returns the connection of a server and the socket of its client. */
async function connected(): Promise<{ readonly duplex: Duplex; readonly client: WebSocket }> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const accepted = new Promise<Duplex>((resolve) => {
    server.on('upgrade', (request, duplex, head) =>
      sockets.handleUpgrade(request, duplex, head, () => resolve(duplex)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.terminate();
    server.close();
  });
  await once(client, 'open');
  return { duplex: await accepted, client };
}

const SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000];
const TEXTS = [...SIZES.map((size) => 'x'.repeat(size)), 'é'.repeat(63), '😀'];

test('messages of all sizes arrive whole and in order, and a ping between them', async () => {
  const { duplex, client } = await connected();
  const received: { readonly text: string; readonly isBinary: boolean }[] = [];
  client.on('message', (data, isBinary) => received.push({ text: String(data), isBinary }));
  let pings = 0;
  client.on('ping', () => {
    pings += 1;
  });
  for (const text of TEXTS) duplex.write(Buffer.concat([textFrame(text), PING_FRAME]));
  await expect.poll(() => received.length).toBe(TEXTS.length);
  expect(received.every(({ text, isBinary }, i) => text === TEXTS[i] && !isBinary)).toBe(true);
  await expect.poll(() => pings).toBe(TEXTS.length);
});

test('a message may continue with bytes that are written after its frame', async () => {
  const { duplex, client } = await connected();
  const message = once(client, 'message');
  const shared = Buffer.from('é'.repeat(50_000));
  duplex.write(textFrame('{"a":"', shared.length + 2));
  duplex.write(shared);
  duplex.write('"}');
  const [data] = (await message) as [Buffer];
  expect(String(data)).toBe(`{"a":"${shared}"}`);
});
