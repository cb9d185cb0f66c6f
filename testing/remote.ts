/** Starts GraphQL services for tests: real HTTP servers with a schema of the test's own, which record the requests they receive and can
 *  be made to misbehave. Not here: the engine that calls them (engine.ts). */

import { on, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema, execute, type GraphQLFieldResolver, parse, validate } from 'graphql';
import { type WebSocket, WebSocketServer } from 'ws';

type Resolvers = Readonly<Record<string, (parent: unknown, args: never) => unknown>>;

export type AskedRemote = {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  readonly headers: IncomingMessage['headers'];
};

export type RemoteService = {
  readonly url: string;
  /** The requests except introspection, in order. */
  readonly asked: readonly AskedRemote[];
  /** The number of TCP connections so far. */
  readonly connections: () => number;
  /** Replaces the answers from now on; null restores the answers of the schema. */
  readonly misbehave: (handle: ((request: IncomingMessage, response: ServerResponse) => void) | null) => void;
  /** Accepts only WebSockets of this sub-protocol from now on. */
  readonly takeSockets: (protocol: string, handle: (socket: RemotePeer) => void) => void;
  /** The headers of the answers. */
  readonly headers: Record<string, string | string[]>;
  /** Replaces the schema. */
  readonly serve: (sdl: string, resolvers?: Resolvers) => void;
  readonly close: () => Promise<void>;
};

/** The server's end of a WebSocket from the engine; it sends exactly what the test gives it. */
export type RemotePeer = {
  readonly socket: WebSocket;
  readonly headers: IncomingMessage['headers'];
  readonly closed: Promise<unknown>;
  readonly send: (message: unknown) => void;
  /** Resolves to the next message from the engine. */
  readonly next: () => Promise<{ readonly type: string; readonly id?: string; readonly payload?: unknown }>;
};

/** The resolvers by `Type.field`; other fields are properties of their parents. */
export async function startRemote(sdl: string, resolvers: Resolvers = {}): Promise<RemoteService> {
  const asked: AskedRemote[] = [];
  const headers: Record<string, string | string[]> = {};
  let answer = answerer(sdl, resolvers);
  let misbehaviour: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  let connections = 0;
  const server = createServer(async (request, response) => {
    if (misbehaviour) return misbehaviour(request, response);
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    if (!body.query.includes('IntrospectionQuery')) asked.push({ ...body, headers: request.headers });
    const bytes = Buffer.from(JSON.stringify(await answer(body)));
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': bytes.length,
      ...headers,
    });
    response.end(bytes);
  });
  server.on('connection', () => connections++);
  let taken = '';
  const sockets = new WebSocketServer({ server, handleProtocols: (all) => all.has(taken) && taken });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    asked,
    headers,
    connections: () => connections,
    misbehave: (handle) => {
      misbehaviour = handle;
    },
    serve: (next, nextResolvers = {}) => {
      answer = answerer(next, nextResolvers);
    },
    takeSockets: (protocol, handle) => {
      taken = protocol;
      sockets.removeAllListeners('connection');
      sockets.on('connection', (socket, { headers: given }) => handle(peerOf(socket, given)));
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function peerOf(socket: WebSocket, headers: IncomingMessage['headers']): RemotePeer {
  const inbox = on(socket, 'message');
  return {
    socket,
    headers,
    closed: once(socket, 'close'),
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next: async () => JSON.parse(String((await inbox.next()).value![0])),
  };
}

function answerer(sdl: string, resolvers: Resolvers) {
  const schema = buildSchema(sdl);
  const fieldResolver: GraphQLFieldResolver<unknown, unknown> = (parent, args, _, info) => {
    const own = resolvers[`${info.parentType.name}.${info.fieldName}`];
    return own ? own(parent, args as never) : (parent as Record<string, unknown>)?.[info.fieldName];
  };
  return async ({ query, variables, operationName }: AskedRemote): Promise<object> => {
    const document = parse(query);
    const errors = validate(schema, document);
    if (errors.length > 0) return { errors };
    return execute({
      schema,
      document,
      variableValues: variables,
      operationName,
      rootValue: {},
      fieldResolver,
    });
  };
}
