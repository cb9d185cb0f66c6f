/** One subscription at an endpoint of either engine, over a WebSocket with the sub-protocol graphql-transport-ws, until it has sent the results that are
 *  wanted, has ended, or the time is over. In: an address, a request. Out: the results. Throws EngineProblem when the endpoint accepts no WebSocket.
 *  Not here: requests over HTTP (graphql-request.ts). Reference: graphql-ws PROTOCOL.md. */
import { WebSocket } from 'ws';
import { isRecord, type JsonRecord } from '../../engine/json/value.ts';
import { parseJson } from '../../engine/metadata/index.ts';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { displayUrl } from '../../operator/engine/problem.ts';
import { EngineProblem } from '../../operator/ports/engine-problem.ts';
import { type GraphqlRequest, headersOf } from './graphql-request.ts';

export type SubscriptionAnswer = {
  /** The results, each with `data` or `errors`, like the body of a response. */
  readonly results: readonly JsonRecord[];
  /** The code of a connection that the endpoint closed: 4400 for credentials that it refuses. */
  readonly closeCode: number | undefined;
};

/** How many results are read, and how long they are waited for. */
export type Patience = { readonly results: number; readonly milliseconds: number };

const PROTOCOL = 'graphql-transport-ws';
const ID = '1';
const MOST_BYTES = 64 * 1024 * 1024;

export function subscribe(
  address: EngineAddress,
  request: GraphqlRequest,
  patience: Patience,
): Promise<SubscriptionAnswer> {
  const headers = headersOf(address, request);
  const url = `${address.url.replace(/^http/, 'ws').replace(/\/+$/, '')}/v1/graphql`;
  // A cookie is only accepted with the handshake.
  const cookie = headers['cookie'] === undefined ? {} : { cookie: headers['cookie'] };
  const socket = new WebSocket(url, PROTOCOL, { maxPayload: MOST_BYTES, headers: cookie });
  const results: JsonRecord[] = [];
  return new Promise((resolve, reject) => {
    const end = (closeCode?: number) => {
      clearTimeout(timer);
      resolve({ results, closeCode });
      socket.close();
    };
    const timer = setTimeout(() => {
      if (socket.readyState === WebSocket.OPEN) end();
      else socket.terminate();
    }, patience.milliseconds);
    const send = (message: object) => socket.send(JSON.stringify(message));
    socket.once('open', () => send({ type: 'connection_init', payload: { headers } }));
    socket.once('close', (code) => end(code));
    socket.on('error', (cause) => {
      clearTimeout(timer);
      reject(new EngineProblem('unreachable', `${displayUrl(address)} accepts no WebSocket`, { cause }));
    });
    socket.on('message', (data) => {
      const { type, payload } = messageIn(String(data));
      if (type === 'connection_ack') send({ type: 'subscribe', id: ID, payload: payloadOf(request) });
      if (type === 'ping') send({ type: 'pong' });
      if (type === 'next' && isRecord(payload)) results.push(payload);
      if (type === 'error') results.push({ errors: payload });
      if (type === 'complete' || type === 'error' || results.length >= patience.results) end();
    });
  });
}

function payloadOf({ query, variables, operationName }: GraphqlRequest): object {
  return { query, variables, operationName };
}

/** Returns a message of the endpoint; one without a type for text that is no message. */
function messageIn(text: string): { readonly type?: unknown; readonly payload?: unknown } {
  try {
    const message = parseJson(text);
    return isRecord(message) ? message : {};
  } catch {
    return {};
  }
}
