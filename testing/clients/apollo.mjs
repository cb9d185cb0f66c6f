/** Apollo Client over HTTP and over graphql-ws, and its link for persisted queries. */
import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache, split } from '@apollo/client/core';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { getMainDefinition } from '@apollo/client/utilities';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { graphqlUrl, headers, report, socketUrl, watchedFetch } from './lib.mjs';

const { requests, fetch } = watchedFetch();
const http = new HttpLink({ uri: graphqlUrl, headers, fetch });
const sockets = createClient({ url: socketUrl, webSocketImpl: WebSocket, connectionParams: { headers } });
const isSubscription = ({ query }) => getMainDefinition(query).operation === 'subscription';
const client = new ApolloClient({
  link: split(isSubscription, new GraphQLWsLink(sockets), http),
  cache: new InMemoryCache(),
});

const BOOKS = gql`query Books($first: Int) { book(limit: $first, order_by: { id: asc }) { id title author { id name } } }`;

function first(source) {
  return new Promise((resolve, reject) => {
    const subscription = source.subscribe({
      next: (value) => {
        if (value.error) reject(value.error);
        else resolve(value);
        setTimeout(() => subscription.unsubscribe());
      },
      error: reject,
    });
  });
}

async function errorOf(promise) {
  try {
    await promise;
    return null;
  } catch (error) {
    return { name: error.name, message: error.message, errors: error.errors };
  }
}

/** Runs a query through the link for persisted queries. */
async function persisted(options) {
  requests.length = 0;
  const sha256 = (text) => createHash('sha256').update(text).digest('hex');
  const link = ApolloLink.from([new PersistedQueryLink({ sha256, ...options }), http]);
  const other = new ApolloClient({ link, cache: new InMemoryCache() });
  const { data } = await other.query({ query: BOOKS, variables: { first: 1 }, fetchPolicy: 'network-only' });
  const again = await other.query({ query: BOOKS, variables: { first: 2 }, fetchPolicy: 'network-only' });
  return { counts: [data.book.length, again.data.book.length], requests: [...requests] };
}

await report(async () => {
  const { data } = await client.query({ query: BOOKS, variables: { first: 2 } });
  const mutation = gql`mutation ($title: String!) { insert_book_one(object: { title: $title, author_id: 1 }) { id title } }`;
  const added = await client.mutate({ mutation, variables: { title: 'by Apollo' } });
  const live = await first(
    client.subscribe({ query: gql`subscription { book_aggregate { aggregate { count } } }` }),
  );
  const unknown = gql`query { book { nowhere } }`;
  return {
    query: data.book,
    mutation: added.data.insert_book_one.title,
    subscription: live.data.book_aggregate.aggregate.count,
    error: await errorOf(client.query({ query: unknown })),
    liveError: await errorOf(first(client.subscribe({ query: gql`subscription { book { nowhere } }` }))),
    persisted: await persisted({}),
    persistedByGet: await persisted({ useGETForHashedQueries: true }),
  };
});
