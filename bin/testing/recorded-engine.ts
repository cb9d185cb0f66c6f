/** An engine of the reference as a recording for tests: a real server with metadata, a schema for each role, an answer for each
 *  query, and the results of each subscription. Not here: the engine that it is compared with (testing/engine.ts). */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema, graphqlSync } from 'graphql';
import { type WebSocket, WebSocketServer } from 'ws';

type Recording = {
  readonly metadata: object;
  /** The SDL of each role. Introspection is disabled for other roles. */
  readonly schemas: Readonly<Record<string, string>>;
  /** The body of the answer to each query. */
  readonly answers?: Readonly<Record<string, object>>;
  /** The results of each subscription, in order. */
  readonly results?: Readonly<Record<string, readonly object[]>>;
};

type Body = { readonly type?: string; readonly query?: string; readonly variables?: object };

export type RecordedEngine = {
  readonly url: string;
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly body: Body }[];
  readonly close: () => void;
};

const SECRET = 'secret of the reference';
const DENIED = {
  errors: [{ message: 'introspection is disabled', extensions: { code: 'validation-failed', path: '$' } }],
};

export const RECORDED_SECRET = SECRET;

export async function startRecordedEngine(recording: Recording): Promise<RecordedEngine> {
  const requests: RecordedEngine['requests'] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const body = JSON.parse(text) as Body;
      requests.push({ headers: request.headers, body });
      const { status, answer } = answerTo(recording, request.headers, body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'graphql-transport-ws' });
  sockets.on('connection', (socket) => serveSubscription(socket, recording));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, close: () => server.close() };
}

/** Answers one client of the sub-protocol graphql-transport-ws, as the reference does: it refuses wrong credentials with the code 4400. */
function serveSubscription(socket: WebSocket, { results = {} }: Recording): void {
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.on('message', (data) => {
    const { type, id, payload } = JSON.parse(String(data)) as {
      type: string;
      id?: string;
      payload: { headers?: Record<string, string>; query?: string };
    };
    if (type === 'connection_init') {
      if (payload.headers?.['x-hasura-admin-secret'] === SECRET) send({ type: 'connection_ack' });
      else socket.close(4400, 'invalid x-hasura-admin-secret');
    }
    if (type !== 'subscribe') return;
    for (const result of results[payload.query ?? ''] ?? []) send({ type: 'next', id, payload: result });
  });
}

function answerTo(
  { metadata, schemas, answers = {} }: Recording,
  headers: IncomingHttpHeaders,
  { type, query = '' }: Body,
): { readonly status: number; readonly answer: object } {
  if (headers['x-hasura-admin-secret'] !== SECRET) {
    return {
      status: 401,
      answer: { path: '$', error: 'invalid x-hasura-admin-secret', code: 'access-denied' },
    };
  }
  if (type === 'export_metadata') return { status: 200, answer: { resource_version: 7, metadata } };
  if (!query.includes('__schema')) return { status: 200, answer: answers[query] ?? { data: null } };
  const sdl = schemas[String(headers['x-hasura-role'] ?? 'admin')];
  return {
    status: 200,
    answer: sdl === undefined ? DENIED : graphqlSync({ schema: buildSchema(sdl), source: query }),
  };
}
