/** The two sub-protocols of GraphQL over WebSocket, as tables: which messages a client may send and what they mean,
 *  and the text of the messages of the server. Pure.
 *  `graphql-ws` is the older one, of the library subscriptions-transport-ws. `graphql-transport-ws` is the newer one,
 *  of the library graphql-ws; its PROTOCOL.md defines the messages and close codes.
 *  Not here: which message is allowed when (protocol.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import { type EngineError, toAdminBody, toGraphqlError } from '../../errors/engine-error.ts';
import { isRecord } from '../../json/value.ts';
import { headerBytes } from '../../outgoing/header-values.ts';

export type ClientMessage =
  | { readonly kind: 'init'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'start'; readonly id: string; readonly request: unknown }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'pong' }
  | { readonly kind: 'terminate' }
  /** A message outside the protocol; `reason` is sent to the client. */
  | { readonly kind: 'malformed'; readonly reason: string };

/** The messages of the server. Payloads are JSON text already, because results are never parsed. */
type ServerMessages = {
  readonly ack: string;
  /** The keep-alive message, also sent after the acknowledgement. */
  readonly alive: string;
  /** Returns the text before and after a response. */
  readonly next: (id: string) => readonly [before: string, after: string];
  /** `errors` is the list as JSON text. The operation has ended. */
  readonly error: (id: string, errors: string) => string;
  readonly complete: (id: string) => string;
};

export type Protocol = {
  readonly name: 'graphql-ws' | 'graphql-transport-ws';
  /** Parsers of client messages by their type. */
  readonly client: Readonly<Record<string, (message: Fields) => ClientMessage>>;
  readonly server: ServerMessages;
  /** True when `complete` follows an `error` for an operation that could not start. */
  readonly completesErrors: boolean;
  /** True when clients answer the keep-alive message. */
  readonly isAliveAnswered: boolean;
  /** Returns an error as the payloads of messages have it. */
  readonly errorOf: (error: EngineError, showInternal: boolean) => object;
};

type Fields = Readonly<Record<string, unknown>>;

const init = ({ payload }: Fields): ClientMessage => {
  const headers = isRecord(payload) ? (payload['headers'] ?? {}) : {};
  if (!isRecord(headers)) return malformed('"headers" of connection_init must be an object');
  const texts = Object.entries(headers).filter(([, value]) => value !== null && typeof value !== 'object');
  return {
    kind: 'init',
    headers: Object.fromEntries(
      texts.map(([name, value]) => [name.toLowerCase(), headerBytes(String(value))]),
    ),
  };
};

const start = ({ id, payload }: Fields): ClientMessage => {
  if (typeof id !== 'string') return malformed('expected an "id" of text');
  if (payload === undefined) return malformed('Error in $: key "payload" not found');
  return { kind: 'start', id, request: payload };
};

const stop = ({ id }: Fields): ClientMessage =>
  typeof id === 'string' ? { kind: 'stop', id } : malformed('expected an "id" of text');

export const PROTOCOLS: readonly Protocol[] = [
  {
    name: 'graphql-transport-ws',
    completesErrors: false,
    isAliveAnswered: true,
    errorOf: toGraphqlError,
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
    isAliveAnswered: false,
    errorOf: toGraphqlError,
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

/** Returns the sub-protocol of a handshake; the older one when the handshake names none. At the older path, an error is
 *  `{path, error, code}`, and is the whole payload of its message. */
export function protocolOf(name: string, isOlderPath: boolean): Protocol {
  const protocol = PROTOCOLS.find((each) => each.name === name) ?? PROTOCOLS[1]!;
  if (!isOlderPath) return protocol;
  const error = (id: string, errors: string) =>
    JSON.stringify({ type: 'error', id, payload: (JSON.parse(errors) as unknown[])[0] });
  return {
    ...protocol,
    errorOf: (thrown, showInternal) => toAdminBody(thrown, 'newer', showInternal),
    server: { ...protocol.server, error },
  };
}

export const PONG = '{"type":"pong"}';

export const connectionError = (reason: string) =>
  JSON.stringify({ type: 'connection_error', payload: reason });

/** Parses a message. `parse` throws on text that is not JSON. */
export function readMessage(
  protocol: Protocol,
  text: string,
  parse: (text: string) => unknown,
): ClientMessage {
  const message = parsed(text, parse);
  if (!isRecord(message)) return malformed('expected a message as a JSON object');
  const { type } = message;
  if (typeof type !== 'string') return malformed('expected a message with a "type"');
  if (!Object.hasOwn(protocol.client, type))
    return malformed(`Error in $: unexpected type for ClientMessage: ${type}`);
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
  return { kind: 'malformed', reason: `parsing ClientMessage failed: ${reason}` };
}
