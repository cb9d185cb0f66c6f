/** Starts a webhook for tests: a real HTTP server that records the requests it receives and answers as the test says.
 *  Not here: the engine that calls it (engine.ts), GraphQL services (remote.ts). */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received<Body> = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
};

type Answer = {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
};

export class TestWebhook<Body> {
  /** The requests since the last reset, in order. */
  received: Received<Body>[] = [];
  reply: () => Answer = () => ({ status: 200 });
  /** The webhook answers once this resolves. */
  open: Promise<void> = Promise.resolve();
  readonly #server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', async () => {
      this.received.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) });
      await this.open;
      const { status, headers = {}, body = { heard: true } } = this.reply();
      response.writeHead(status, headers).end(JSON.stringify(body));
    });
  });

  static async start<Body>(): Promise<TestWebhook<Body>> {
    const webhook = new TestWebhook<Body>();
    await once(webhook.#server.listen(0, '127.0.0.1'), 'listening');
    return webhook;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forgets the requests, and answers with 200 at once. */
  reset(): void {
    this.received = [];
    this.open = Promise.resolve();
    this.reply = () => ({ status: 200 });
  }

  close(): void {
    this.#server.close();
  }
}
