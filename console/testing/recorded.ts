/** A server before an engine that records the requests of a page: what was sent, and what came back. Not here: what they may contain (the tests). */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

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
  readonly close: () => Promise<void>;
};

export async function startRecorder(engineUrl: string): Promise<Recorder> {
  const requests: Recorded[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
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
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
