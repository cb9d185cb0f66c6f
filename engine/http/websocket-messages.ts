/** The two sub-protocols of GraphQL over WebSocket, as tables: which messages a client may send and what they mean, and how
 *  what the server says is written. Pure: text in, meaning out, and the other way.
 *  `graphql-ws` is the older one, of the library subscriptions-transport-ws; `graphql-transport-ws` the newer, of the
 *  library graphql-ws, whose document PROTOCOL.md names the messages and close codes.
 *  Not here: which message may come when (websocket-protocol.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import { isRecord } from '../json/value.ts';

export type ClientMessage =
  | { readonly kind: 'init'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'start'; readonly id: string; readonly request: unknown }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'pong' }
  | { readonly kind: 'terminate' }
  /** No message of the protocol; `reason` is told. */
  | { readonly kind: 'malformed'; readonly reason: string };

/** Payloads are JSON text already: results are never parsed on their way. */
export type ServerMessages = {
  readonly ack: string;
  /** Sent with the acknowledgement, too. */
  readonly alive: string;
  /** The texts before and after a response. */
  readonly next: (id: string) => readonly [before: string, after: string];
  /** `errors` is the list as JSON text. The operation is over. */
  readonly error: (id: string, errors: string) => string;
  readonly complete: (id: string) => string;
};

export type Protocol = {
  readonly name: 'graphql-ws' | 'graphql-transport-ws';
  /** By the type of the message. */
  readonly client: Readonly<Record<string, (message: Fields) => ClientMessage>>;
  readonly server: ServerMessages;
  /** Is an operation that could not begin completed as well? */
  readonly completesErrors: boolean;
};

type Fields = Readonly<Record<string, unknown>>;

const init = ({ payload }: Fields): ClientMessage => {
  const headers = isRecord(payload) ? (payload['headers'] ?? {}) : {};
  if (!isRecord(headers)) return malformed('"headers" of connection_init must be an object');
  const texts = Object.entries(headers).filter(([, value]) => value !== null && typeof value !== 'object');
  return {
    kind: 'init',
    headers: Object.fromEntries(texts.map(([name, value]) => [name.toLowerCase(), String(value)])),
  };
};

const start = ({ id, payload }: Fields): ClientMessage =>
  typeof id === 'string' ? { kind: 'start', id, request: payload } : malformed('expected an "id" of text');

const stop = ({ id }: Fields): ClientMessage =>
  typeof id === 'string' ? { kind: 'stop', id } : malformed('expected an "id" of text');

export const PROTOCOLS: readonly Protocol[] = [
  {
    name: 'graphql-transport-ws',
    completesErrors: false,
    client: {
      connection_init: init,
      subscribe: start,
      complete: stop,
      ping: () => ({ kind: 'ping' }),
      pong: () => ({ kind: 'pong' }),
    },
    server: {
      ack: '{"type":"connection_ack"}',
      alive: '{"type":"ping","payload":{"message":"keepalive"}}',
      next: (id) => [`{"type":"next","id":${JSON.stringify(id)},"payload":`, '}'],
      error: (id, errors) => `{"type":"error","id":${JSON.stringify(id)},"payload":${errors}}`,
      complete: (id) => `{"type":"complete","id":${JSON.stringify(id)}}`,
    },
  },
  {
    name: 'graphql-ws',
    completesErrors: true,
    client: {
      connection_init: init,
      start,
      stop,
      connection_terminate: () => ({ kind: 'terminate' }),
    },
    server: {
      ack: '{"type":"connection_ack"}',
      alive: '{"type":"ka"}',
      next: (id) => [`{"type":"data","id":${JSON.stringify(id)},"payload":`, '}'],
      error: (id, errors) => `{"type":"error","id":${JSON.stringify(id)},"payload":{"errors":${errors}}}`,
      complete: (id) => `{"type":"complete","id":${JSON.stringify(id)}}`,
    },
  },
];

/** The one a handshake asks for; the older one when it names none. */
export function protocolOf(name: string): Protocol {
  return PROTOCOLS.find((protocol) => protocol.name === name) ?? PROTOCOLS[1]!;
}

export const PONG = '{"type":"pong"}';

export const connectionError = (reason: string) =>
  JSON.stringify({ type: 'connection_error', payload: reason });

/** `parse` raises on text that is no JSON. */
export function readMessage(
  protocol: Protocol,
  text: string,
  parse: (text: string) => unknown,
): ClientMessage {
  const message = parsed(text, parse);
  if (!isRecord(message)) return malformed('expected a message as a JSON object');
  const { type } = message;
  if (typeof type !== 'string') return malformed('expected a message with a "type"');
  if (!Object.hasOwn(protocol.client, type)) return malformed(`unexpected type of message: ${type}`);
  return protocol.client[type]!(message);
}

function parsed(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function malformed(reason: string): ClientMessage {
  return { kind: 'malformed', reason };
}
