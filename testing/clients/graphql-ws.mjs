/** The client of graphql-ws with queries, mutations and subscriptions over one socket, and its reaction to errors. */
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { headers, report, socketUrl } from './lib.mjs';

const pongs = [];
const client = createClient({
  url: socketUrl,
  webSocketImpl: WebSocket,
  connectionParams: { headers },
  keepAlive: 100,
  on: { pong: (received) => received && pongs.push('pong') },
});

/** Returns the first result of an operation, and what ended it. */
function run(query, variables, from = client) {
  return new Promise((resolve) => {
    const results = [];
    from.subscribe(
      { query, variables },
      {
        next: (result) => results.push(result),
        error: (error) =>
          resolve({
            results,
            error: Array.isArray(error) ? error : { code: error.code, reason: error.reason },
          }),
        complete: () => resolve({ results }),
      },
    );
  });
}

async function takeTwo(query, meanwhile) {
  const taken = [];
  for await (const { data } of client.iterate({ query })) {
    taken.push(data);
    if (taken.length === 2) break;
    await meanwhile();
  }
  return taken;
}

await report(async () => {
  const add = (title) =>
    run('mutation ($title: String!) { insert_book_one(object: {title: $title, author_id: 1}) { title } }', {
      title,
    });
  const live = await takeTwo('subscription { book_aggregate { aggregate { count } } }', () =>
    add('by graphql-ws'),
  );
  const counts = live.map(({ book_aggregate }) => book_aggregate.aggregate.count);
  const wrong = createClient({
    url: socketUrl,
    webSocketImpl: WebSocket,
    connectionParams: { headers: { 'x-hasura-admin-secret': 'wrong' } },
    retryAttempts: 0,
  });
  return {
    query: await run('{ book(limit: 1, order_by: {id: asc}) { title } }'),
    mutation: await add('again'),
    grown: counts[1] - counts[0],
    invalid: await run('{ nowhere }'),
    twoRoots: await run('subscription { book { id } author { id } }'),
    unauthorized: await run('{ __typename }', undefined, wrong),
    pongs: pongs.length > 0,
  };
});
