/** The client of subscriptions-transport-ws, whose subprotocol is the older one. */
import { SubscriptionClient } from 'subscriptions-transport-ws';
import WebSocket from 'ws';
import { headers, report, socketUrl } from './lib.mjs';

const client = new SubscriptionClient(
  socketUrl,
  { reconnect: false, connectionParams: { headers } },
  WebSocket,
);

/** Returns the results of an operation until it completes, or until the first result of a subscription. */
function run(query, variables, from = client) {
  return new Promise((resolve) => {
    const results = [];
    const isLive = query.startsWith('subscription');
    const subscription = from.request({ query, variables }).subscribe({
      next: (result) => {
        results.push(result);
        if (!isLive) return;
        resolve({ results });
        setTimeout(() => subscription.unsubscribe());
      },
      error: (error) => resolve({ results, error: error.errors ?? error.message }),
      complete: () => resolve({ results }),
    });
  });
}

await report(async () => {
  const add =
    'mutation ($title: String!) { insert_book_one(object: {title: $title, author_id: 1}) { title } }';
  const wrong = new SubscriptionClient(
    socketUrl,
    { reconnect: false, connectionParams: { headers: { 'x-hasura-admin-secret': 'wrong' } } },
    WebSocket,
  );
  const refused = await new Promise((resolve) => {
    wrong.onError(() => {});
    wrong.onConnected((answer) => resolve({ connected: answer ?? null }));
    wrong.onDisconnected(() => resolve('disconnected'));
    wrong
      .request({ query: '{ __typename }' })
      .subscribe({ error: ({ message }) => resolve(message), next: () => {} });
  });
  return {
    query: await run('{ book(limit: 1, order_by: {id: asc}) { title } }'),
    mutation: await run(add, { title: 'by subscriptions-transport-ws' }),
    subscription: await run('subscription { book_by_pk(id: 1) { title } }'),
    invalid: await run('{ nowhere }'),
    refused,
  };
});
