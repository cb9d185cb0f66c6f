/** urql with its default exchanges and settings, and with its subscriptions over graphql-ws. */
import { Client, cacheExchange, fetchExchange, gql, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { graphqlUrl, headers, report, socketUrl, watchedFetch } from './lib.mjs';

const { requests, fetch } = watchedFetch();
const sockets = createClient({ url: socketUrl, webSocketImpl: WebSocket, connectionParams: { headers } });
const forwardSubscription = (request) => ({
  subscribe: (sink) => ({ unsubscribe: sockets.subscribe({ ...request, query: request.query ?? '' }, sink) }),
});
const client = new Client({
  url: graphqlUrl,
  fetch,
  fetchOptions: { headers },
  exchanges: [cacheExchange, fetchExchange, subscriptionExchange({ forwardSubscription })],
});

const first = (source) =>
  new Promise((resolve) => {
    const { unsubscribe } = source.subscribe((result) => {
      resolve(result);
      setTimeout(() => unsubscribe());
    });
  });

await report(async () => {
  const query = gql`query ($first: Int) { book(limit: $first, order_by: { id: asc }) { id title } }`;
  const { data, error } = await client.query(query, { first: 2 }).toPromise();
  const mutation = gql`mutation ($title: String!) { insert_book_one(object: { title: $title, author_id: 1 }) { title } }`;
  const added = await client.mutation(mutation, { title: 'by urql' }).toPromise();
  const live = await first(
    client.subscription(gql`subscription { book_aggregate { aggregate { count } } }`, {}),
  );
  const failed = await client.query(gql`{ book { nowhere } }`, {}).toPromise();
  return {
    query: data?.book ?? String(error),
    mutation: added.data?.insert_book_one.title ?? String(added.error),
    subscription: live.data?.book_aggregate.aggregate.count,
    error: failed.error.graphQLErrors.map(({ message, extensions }) => ({ message, extensions })),
    requests,
  };
});
