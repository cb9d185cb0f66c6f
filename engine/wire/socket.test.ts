/** Tests socket.ts with servers that answer a request for encryption wrongly. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { isAboutTls, openSocket, type Way } from './socket.ts';

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
});

/** Starts a server that answers each request with these bytes; null never answers. */
async function answering(bytes: string | null): Promise<{ readonly host: string; readonly port: number }> {
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', () => {
      if (bytes === '') socket.end();
      else if (bytes !== null) socket.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

test.each<[string, string | null, Way, string | null, boolean]>([
  ['refuses encryption', 'N', 'encrypted', 'The server does not support SSL connections', true],
  ['refuses what is only offered', 'N', 'offered', null, false],
  [
    'sends text after its consent',
    'Sx',
    'encrypted',
    'There was an error establishing an SSL connection',
    true,
  ],
  [
    'sends text after its refusal',
    'Nx',
    'offered',
    'There was an error establishing an SSL connection',
    true,
  ],
  ['answers with an error', 'EFATAL', 'offered', 'There was an error establishing an SSL connection', true],
  ['closes the connection', '', 'offered', 'Connection terminated unexpectedly', true],
  ['does not answer', null, 'offered', 'timeout expired', false],
  ['is not asked', null, 'plain', null, false],
])('a server that %s', async (_, bytes, way, message, isTls) => {
  // Only a server that never answers is worth no long wait.
  const timeoutMs = bytes === null ? 300 : 20_000;
  const opening = openSocket(await answering(bytes), way, { mode: 'prefer' }, timeoutMs);
  if (message === null) (await opening).destroy();
  else {
    const error = await opening.catch((failure: unknown) => failure);
    expect(error).toMatchObject({ message });
    expect(isAboutTls(error)).toBe(isTls);
  }
});

test('a port without a server is not about encryption', async () => {
  const { port } = await answering('N');
  await new Promise((resolve) => server!.close(resolve));
  const error = await openSocket({ host: '127.0.0.1', port }, 'offered', { mode: 'prefer' }, 300).catch(
    (e) => e,
  );
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  expect(isAboutTls(error)).toBe(false);
});
