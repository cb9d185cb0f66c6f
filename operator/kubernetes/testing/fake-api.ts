/** An API server of one collection that does what a test scripts, for faults a real one does not produce on demand.
 *  A script is one function per request, in order; the last one goes on for ever. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { connect, type Transport } from '../transport.ts';

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export type FakeApi = {
  readonly transport: Transport;
  /** `list`, `list page-2`, `watch 5`: what was asked, in order. */
  readonly asked: string[];
  /** Headers and queries, in the same order. */
  readonly requests: IncomingMessage[];
  readonly connections: () => number;
  readonly close: () => Promise<void>;
};

export async function fakeApi(script: {
  list: readonly Answer[];
  watch: readonly Answer[];
}): Promise<FakeApi> {
  const asked: string[] = [];
  const requests: IncomingMessage[] = [];
  const left = { list: [...script.list], watch: [...script.watch] };
  let connections = 0;
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://fake').searchParams;
    const kind = query.get('watch') === 'true' ? 'watch' : 'list';
    const detail = kind === 'watch' ? query.get('resourceVersion') : query.get('continue');
    asked.push(`${kind} ${detail ?? ''}`.trim());
    requests.push(request);
    const answers = left[kind];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(response, request);
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = await connect(configFor((server.address() as AddressInfo).port));
  return {
    transport,
    asked,
    requests,
    connections: () => connections,
    close: async () => {
      await transport.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function configFor(port: number): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'fake', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }],
    users: [{ name: 'fake', token: 'fake-token' }],
    contexts: [{ name: 'fake', cluster: 'fake', user: 'fake' }],
    currentContext: 'fake',
  });
  return config;
}

export function thing(name: string, version: number, more: object = {}): object {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: String(version), ...more } };
}

export function listed(version: number, items: readonly object[], next?: string): Answer {
  const metadata = { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) };
  return (response) => response.end(JSON.stringify({ metadata, items }));
}

export function refused(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  details?: object,
): Answer {
  const body = { kind: 'Status', code: status, message, details };
  return (response) => response.writeHead(status, headers).end(JSON.stringify(body));
}

export function event(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Sends it, and leaves the stream open. */
export function streaming(...texts: readonly string[]): Answer {
  return (response) => {
    response.flushHeaders();
    for (const text of texts) response.write(text);
  };
}

/** Sends it, then ends the stream as a server does when its time is over. */
export function ending(...texts: readonly string[]): Answer {
  return (response) => response.end(texts.join(''));
}

/** Sends it, then the connection breaks. */
export function breaking(...texts: readonly string[]): Answer {
  return (response) => {
    response.write(texts.join(''), () => response.socket?.resetAndDestroy());
  };
}
