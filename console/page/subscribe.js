/** A subscription over the sub-protocol graphql-transport-ws, on a connection of its own. In: the request and its headers, which a browser
 *  can only send in the first message. Out: an observable, which GraphiQL subscribes to and ends; its errors are lists, which GraphiQL prints as `errors`.
 *  Not here: other requests (requests.js). Reference: PROTOCOL.md of graphql-ws. */
import { parseWithAllDigits } from './digits.js';
import { withClient } from './requests.js';

/** `onRefused` is called when the engine closes the connection because of the credentials. */
export function subscribe(question, headers, onRefused) {
  return {
    subscribe: (observer) => {
      const socket = new WebSocket(socketUrl(), 'graphql-transport-ws');
      let isDone = false;
      const end = (report) => {
        if (isDone) return;
        isDone = true;
        report();
        socket.close(1000);
      };
      const send = (message) => socket.send(JSON.stringify(message));
      socket.onopen = () => send({ type: 'connection_init', payload: { headers: withClient(headers) } });
      socket.onmessage = ({ data }) => {
        const { type, payload } = parseWithAllDigits(data);
        if (type === 'connection_ack') send({ type: 'subscribe', id: '1', payload: question });
        if (type === 'ping') send({ type: 'pong' });
        if (type === 'next' && !isDone) observer.next(payload);
        if (type === 'error') end(() => observer.error(payload));
        if (type === 'complete') end(() => observer.complete());
      };
      socket.onclose = ({ code, reason }) => {
        if (REFUSALS.includes(code)) onRefused();
        const message = `The engine closed the subscription: ${reason || `code ${code}`}`;
        // GraphiQL shows the stack of an Error.
        end(() => observer.error([{ message }]));
      };
      return { unsubscribe: () => end(() => observer.complete()) };
    },
  };
}

/** Unauthorized, which is also the end of a token, and Forbidden. */
const REFUSALS = [4401, 4403];

function socketUrl() {
  const url = new URL('../v1/graphql', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
