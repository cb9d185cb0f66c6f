/** Sends the results of a polled query to WebSockets that subscribed to it: one statement for all subscriptions, and a message where the
 *  text of a result has changed. In: graphql-transport-ws with the subscription of the measurement, whose only variable is `id`. */
import type { Server } from 'node:http';
import type pg from 'pg';
import { type WebSocket, WebSocketServer } from 'ws';
import { REFETCH_MS } from '../world.ts';

type Subscription = { readonly socket: WebSocket; readonly id: string; readonly key: number; last: string };
type Message = {
  readonly type: string;
  readonly id: string;
  readonly payload?: { readonly variables?: { readonly id: number } };
};

const STATEMENT = `
select k.id, '{"id":' || c.id || ',"value":' || c.value || '}'
from unnest($1::int[]) k (id) join counter c on c.id = k.id`;

export function deliverLiveQueries(server: Server, pool: pg.Pool): void {
  const subscriptions = new Set<Subscription>();
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'graphql-transport-ws' });
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { type, id, payload } = JSON.parse(String(data)) as Message;
      if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
      if (type === 'subscribe') subscriptions.add({ socket, id, key: payload!.variables!.id, last: '' });
    });
    socket.on('close', () => {
      for (const one of subscriptions) if (one.socket === socket) subscriptions.delete(one);
    });
  });
  setInterval(async () => {
    if (subscriptions.size > 0) await poll(pool, subscriptions);
  }, REFETCH_MS);
}

async function poll(pool: pg.Pool, subscriptions: ReadonlySet<Subscription>): Promise<void> {
  const keys = [...new Set([...subscriptions].map(({ key }) => key))];
  const { rows } = await pool.query<[number, string]>({
    name: 'live',
    text: STATEMENT,
    values: [keys],
    rowMode: 'array',
  } as never);
  const results = new Map(rows as never as [number, string][]);
  for (const subscription of subscriptions) {
    const result = results.get(subscription.key);
    // A subscription that arrived during the statement has its first result after the next.
    if (result === undefined || result === subscription.last) continue;
    subscription.last = result;
    subscription.socket.send(
      `{"type":"next","id":"${subscription.id}","payload":{"data":{"counter_by_pk":${result}}}}`,
    );
  }
}
