/** Tests closing the transport to a server that offers HTTP/2, which the transport does not use (outgoing/http-request.ts). */
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { certificate } from './testing/certificate.ts';
import { connect } from './transport.ts';

function configFor(port: number, authority: string): KubeConfig {
  const config = new KubeConfig();
  const caData = Buffer.from(authority).toString('base64');
  config.loadFromOptions({
    clusters: [{ name: 'fake', server: `https://127.0.0.1:${port}`, caData }],
    users: [{ name: 'fake', token: 'fake-token' }],
    contexts: [{ name: 'fake', cluster: 'fake', user: 'fake' }],
    currentContext: 'fake',
  });
  return config;
}

test('the transport uses HTTP/1.1, and closing it with open watches causes no uncaught error', async () => {
  const pem = certificate();
  const versions = new Set<string>();
  const server = createSecureServer({ ...pem, allowHTTP1: true }, (request, response) => {
    versions.add(request.httpVersion);
    response.writeHead(200);
    const timer = setInterval(
      () => response.write(`${JSON.stringify({ type: 'BOOKMARK', object: {} })}\n`),
      2,
    );
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const errors: unknown[] = [];
  const note = (error: unknown) => void errors.push(error);
  process.on('uncaughtException', note);
  try {
    for (let round = 0; round < 5; round++) {
      const transport = await connect(configFor((server.address() as AddressInfo).port, pem.cert));
      const stop = new AbortController();
      let seen = 0;
      const watches = Array.from({ length: 20 }, async (_, i) => {
        const request = { path: '/things', signal: stop.signal, silenceMs: 5000 };
        // The readers of half of the watches stop from time to time and start again.
        while (!stop.signal.aborted) {
          for await (const _ of transport.watch(request)) {
            seen++;
            if (i % 2 === 0 && seen % 7 === 0) break;
          }
        }
      });
      const ended = Promise.allSettled(watches);
      await expect.poll(() => seen, { interval: 5, timeout: 20_000 }).toBeGreaterThan(100);
      stop.abort();
      await ended;
      await transport.close();
    }
    expect(errors).toEqual([]);
    expect([...versions]).toEqual(['1.1']);
  } finally {
    process.off('uncaughtException', note);
    server.close();
  }
});
