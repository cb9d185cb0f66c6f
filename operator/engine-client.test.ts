/** What the client makes of answers a healthy engine does not give. Requests a healthy one answers: reconcile.engine.test.ts. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { engineClient } from './engine-client.ts';
import type { EngineProblem } from './ports.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server!.address() as AddressInfo).port}`;
}

const answering = (status: number, body: string) =>
  serve((_, response) => response.writeHead(status).end(body));

async function problemOf(url: string, options: { timeoutMs?: number } = {}): Promise<EngineProblem> {
  return engineClient({ url, adminSecret: 's', ...options })
    .read()
    .then(
      () => expect.fail('the read succeeded'),
      (error: EngineProblem) => error,
    );
}

test('nobody there is unreachable, and says where and why', async () => {
  const { kind, message } = await problemOf('http://127.0.0.1:9');
  expect(kind).toBe('unreachable');
  expect(message).toContain('http://127.0.0.1:9 does not answer');
});

test('an answer that does not come in time is unreachable', async () => {
  const url = await serve(() => {});
  expect((await problemOf(url, { timeoutMs: 50 })).kind).toBe('unreachable');
});

test('an answer cut off in the middle is unreachable', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('[{"resource');
    setTimeout(() => response.destroy(), 20);
  });
  expect((await problemOf(url)).kind).toBe('unreachable');
});

test('a page that is no engine is unreachable', async () => {
  expect((await problemOf(await answering(200, '<html>'))).message).toContain('is an engine there?');
  expect((await problemOf(await answering(404, 'not here'))).kind).toBe('unreachable');
});

test.each([
  [401, '{}'],
  [400, '{"code":"access-denied","error":"restricted access: admin only"}'],
])('a refused secret is unauthorized: %s %s', async (status, body) => {
  expect((await problemOf(await answering(status, body))).kind).toBe('unauthorized');
});

test('another version is a conflict', async () => {
  expect((await problemOf(await answering(409, '{"code":"conflict","error":"x"}'))).kind).toBe('conflict');
});

test('what the engine does not understand is rejected, with its words', async () => {
  const { kind, message } = await problemOf(
    await answering(400, '{"code":"parse-failed","error":"key missing"}'),
  );
  expect([kind, message]).toEqual(['rejected', expect.stringContaining('answers 400: key missing')]);
});

test('trouble in the engine is unreachable: it may pass', async () => {
  expect((await problemOf(await answering(500, 'oops'))).kind).toBe('unreachable');
  expect((await problemOf(await answering(503, ''))).kind).toBe('unreachable');
});

test('the secret goes in a header of the given prefix, and no request leaves without it', async () => {
  const headers: unknown[] = [];
  const url = await serve((request, response) => {
    headers.push(request.headers['x-other-admin-secret']);
    response.end('{"inconsistent_objects":[]}');
  });
  const client = engineClient({ url: `${url}/`, adminSecret: 's', headerPrefix: 'x-other-' });
  await client.dryRun([]);
  await client.version();
  await client.reload();
  expect(headers).toEqual(['s', 's', 's']);
});
