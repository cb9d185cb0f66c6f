/** Tests requests over node:http: connections, limits of time, certificates, and proxies of the transport. */
import { createHash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect as connectSocket, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, expect, test } from 'vitest';
import { certificate } from '../kubernetes/testing/certificate.ts';
import { connect } from '../kubernetes/transport.ts';
import { agentFor, bytesOf, fetchOver, type HttpAgent, sendRequest } from './http-request.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: Server & { readonly closeAllConnections: () => void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener): Promise<{ url: string; agent: HttpAgent }> {
  const url = `http://127.0.0.1:${await listen(createServer(listener))}/`;
  const agent = agentFor(url);
  closing.push(() => agent.destroy());
  return { url, agent };
}

const GET = { method: 'GET', headers: {} } as const;
const signal = new AbortController().signal;

test('a server that does not answer in time is an error, before and during the response', async () => {
  const silent = await serve(() => {});
  await expect(sendRequest(silent.agent, silent.url, { ...GET, silenceMs: 50 })).rejects.toThrow(/timeout/);
  const stuck = await serve((_, response) => void response.write('half'));
  const response = await sendRequest(stuck.agent, stuck.url, { ...GET, silenceMs: 500 });
  await expect(text(response)).rejects.toThrow(/timeout/);
});

test('after a request without a response, none is sent on a connection that was kept before it', async () => {
  const dead = new WeakSet<Socket>();
  const known = new Set<Socket>();
  const { url, agent } = await serve(({ socket }, response) => {
    known.add(socket);
    if (!dead.has(socket)) setTimeout(() => response.end('done'), 20);
  });
  const ask = async () => text(await sendRequest(agent, url, { ...GET, limitMs: 200 }));
  await Promise.all([ask(), ask(), ask()]);
  expect(known.size).toBe(3);
  for (const socket of known) dead.add(socket);
  await expect(ask()).rejects.toThrow(/timeout/);
  expect(await ask()).toBe('done');
});

test("a connection whose answer is not an engine's is not kept", async () => {
  const seen: Socket[] = [];
  const { url, agent } = await serve((request, response) => {
    if (!seen.includes(request.socket)) seen.push(request.socket);
    // The first connection leads to another server, as long as it is used.
    if (request.socket === seen[0]) response.writeHead(404).end();
    else response.setHeader('content-type', 'application/json; charset=utf-8').end('{}');
  });
  const fetch = fetchOver(agent, () => {});
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) {
    const { status, body } = await fetch(url, { ...GET, signal, redirect: 'manual' });
    for await (const _ of body ?? []);
    statuses.push(status);
    await sleep(10);
  }
  expect(statuses).toEqual([404, 200, 200, 200]);
  expect(seen).toHaveLength(2);
});

test('a response that is not complete in time is an error, although the server is never silent', async () => {
  const { url, agent } = await serve((_, response) => {
    const writing = setInterval(() => response.write('more'), 10);
    response.once('close', () => clearInterval(writing));
  });
  const response = await sendRequest(agent, url, { ...GET, silenceMs: 1000, limitMs: 100 });
  await expect(bytesOf(response)).rejects.toThrow('timeout: there was no complete response within 0.1 s');
  const silent = await serve(() => {});
  await expect(sendRequest(silent.agent, silent.url, { ...GET, limitMs: 50 })).rejects.toThrow(/timeout/);
});

test('the bytes of a response are read to the end, or fail as the response does', async () => {
  const { url, agent } = await serve((_, response) => {
    response.write('first, ');
    setTimeout(() => response.end('last'), 20);
  });
  expect((await bytesOf(await sendRequest(agent, url, GET))).toString()).toBe('first, last');
  const cut = await serve((_, response) => {
    response.write('half');
    setTimeout(() => response.destroy(), 20);
  });
  await expect(bytesOf(await sendRequest(cut.agent, cut.url, GET))).rejects.toThrow();
  const ended = await sendRequest(cut.agent, cut.url, GET);
  ended.destroy(new Error('ended before'));
  await sleep(20);
  await expect(bytesOf(ended)).rejects.toThrow('ended before');
});

test('one agent keeps the connections to several servers apart', async () => {
  const [one, other] = await Promise.all(
    ['one', 'other'].map((name) => serve((_, response) => void response.end(name))),
  );
  for (let i = 0; i < 2; i++) {
    expect((await bytesOf(await sendRequest(one!.agent, one!.url, GET))).toString()).toBe('one');
    expect((await bytesOf(await sendRequest(one!.agent, other!.url, GET))).toString()).toBe('other');
    await sleep(20);
  }
  expect(Object.keys(one!.agent.freeSockets)).toHaveLength(2);
});

test('an aborted request fails with the reason of its signal, before and during the response', async () => {
  const silent = await serve(() => {});
  const first = new AbortController();
  const waiting = sendRequest(silent.agent, silent.url, { ...GET, signal: first.signal });
  first.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(sendRequest(silent.agent, silent.url, { ...GET, signal: first.signal })).rejects.toThrow(
    'stopped',
  );
  const stuck = await serve((_, response) => void response.write('half'));
  const second = new AbortController();
  const response = await sendRequest(stuck.agent, stuck.url, { ...GET, signal: second.signal });
  const reading = text(response);
  second.abort(new Error('stopped later'));
  await expect(reading).rejects.toThrow('stopped later');
});

test('a finished request leaves no listener at its signal', async () => {
  const { url, agent } = await serve((_, response) => void response.end('done'));
  const { signal } = new AbortController();
  let listeners = 0;
  const watched = Object.assign(signal, {
    addEventListener: () => listeners++,
    removeEventListener: () => listeners--,
  });
  for (let i = 0; i < 3; i++) await text(await sendRequest(agent, url, { ...GET, signal: watched }));
  await expect.poll(() => listeners).toBe(0);
});

test('a URL with a user is refused, and never sent', async () => {
  let requests = 0;
  const { url, agent } = await serve((_, response) => void response.end(String(requests++)));
  const send = fetchOver(agent, () => {});
  const withUser = url.replace('http://', 'http://user:secret@');
  await expect(send(withUser, { ...GET, signal, redirect: 'manual' })).rejects.toThrow(
    'the URL includes credentials',
  );
  expect(requests).toBe(0);
});

const PARTS = 200;

function* parts(onPart: () => void): Generator<string> {
  for (let i = 0; i < PARTS; i++) {
    onPart();
    yield String(i % 10).repeat(65_536);
  }
}

test('a body in parts arrives whole, and is produced no faster than it is sent', async () => {
  let [made, madeBeforeReading] = [0, 0];
  const { url, agent } = await serve(async (request, response) => {
    await sleep(50);
    madeBeforeReading = made;
    response.end(
      createHash('sha256')
        .update(await text(request))
        .digest('hex'),
    );
  });
  const response = await sendRequest(agent, url, { method: 'POST', headers: {}, body: parts(() => made++) });
  expect(await text(response)).toBe(
    createHash('sha256')
      .update([...parts(() => {})].join(''))
      .digest('hex'),
  );
  expect(madeBeforeReading).toBeLessThan(PARTS);
});

test('a server that closes the connection while a body is sent is an error of the request alone', async () => {
  const { url, agent } = await serve((request) => void request.socket.resetAndDestroy());
  let made = 0;
  const sent = sendRequest(agent, url, { method: 'POST', headers: {}, body: parts(() => made++) });
  await expect(sent).rejects.toThrow(/ECONNRESET|EPIPE|hang up/);
  await sleep(20);
  expect(made).toBeLessThan(PARTS);
});

test('a redirect is not followed', async () => {
  const { url, agent } = await serve((request, response) =>
    request.url === '/'
      ? void response.writeHead(302, { location: '/other' }).end()
      : void response.end('followed'),
  );
  const response = await fetchOver(agent, () => {})(url, { ...GET, signal, redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, '/other']);
});

test('an agent for another address verifies the certificate against the host name of the URL', async () => {
  const pem = certificate('DNS:engine.api.svc');
  const port = await listen(
    https.createServer(pem, (request, response) => response.end(request.headers.host)),
  );
  const at = (url: string) => {
    const agent = agentFor(url, { host: '127.0.0.1', port, ca: pem.cert });
    closing.push(() => agent.destroy());
    return sendRequest(agent, url, GET);
  };
  expect(await text(await at('https://engine.api.svc:8443/'))).toBe('engine.api.svc:8443');
  await expect(at('https://other.api.svc:8443/')).rejects.toThrow(/altnames/);
});

test('the transport reaches the API server through the proxy of its kubeconfig, over kept connections', async () => {
  const pem = certificate();
  const server = https.createServer(pem, (_, response) => response.end('{"kind":"Status"}'));
  const port = await listen(server);
  const tunnels: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, client) => {
    tunnels.push(request.url ?? '');
    const upstream = connectSocket(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [upstream, client]) socket.on('error', () => {});
    closing.push(() => upstream.destroy());
  });
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [
      {
        name: 'a',
        server: `https://127.0.0.1:${port}`,
        caData: Buffer.from(pem.cert).toString('base64'),
        proxyUrl: `http://127.0.0.1:${await listen(proxy)}`,
      },
    ],
    users: [{ name: 'a', token: 'token' }],
    contexts: [{ name: 'a', cluster: 'a', user: 'a' }],
    currentContext: 'a',
  });
  const transport = await connect(config);
  for (let i = 0; i < 3; i++) {
    expect(await transport.send({ method: 'GET', path: '/things' })).toEqual({ kind: 'Status' });
  }
  await transport.close();
  expect(tunnels).toEqual([`127.0.0.1:${port}`]);
});
