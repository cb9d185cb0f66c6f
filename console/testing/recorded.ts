/** A server before an engine that records the requests of a page: what was sent, and what came back. Not here: what they may contain (the tests). */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** The time without a request after which a page has sent all of them. */
const QUIET_MS = 300;

export type Recorded = {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number;
  readonly answer: string;
};

export type Recorder = {
  readonly url: string;
  /** The requests so far, without those for the files of the console. */
  readonly requests: Recorded[];
  /** Waits until every request is answered and a page that follows an answer with another request has sent it. */
  readonly quiet: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function startRecorder(engineUrl: string): Promise<Recorder> {
  const requests: Recorded[] = [];
  const open = new Set<object>();
  let lastMs = performance.now();
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    open.add(incoming);
    outgoing.once('close', () => {
      open.delete(incoming);
      lastMs = performance.now();
    });
    const body = await text(incoming);
    const { host: _, connection: __, 'content-length': ___, ...sent } = headers;
    const response = await fetch(engineUrl + path, {
      method,
      headers: sent as Record<string, string>,
      redirect: 'manual',
      ...(method === 'POST' ? { body } : {}),
    });
    const answer = Buffer.from(await response.arrayBuffer());
    const {
      'content-encoding': ____,
      'content-length': _____,
      ...received
    } = Object.fromEntries(response.headers);
    outgoing.writeHead(response.status, received).end(answer);
    if (!path.startsWith('/console'))
      requests.push({ method, path, body, status: response.status, answer: answer.toString() });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    quiet: async () => {
      while (open.size > 0 || performance.now() - lastMs < QUIET_MS) await sleep(QUIET_MS / 10);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
