/** Shared by the programs of this folder: the engine they talk to, from the environment, and their report, one JSON value on standard output. */
export const url = process.env.ENGINE_URL;
export const secret = process.env.ENGINE_SECRET;
/** The headers of an administrator, under the prefix that existing clients send. */
export const headers = { 'x-hasura-admin-secret': secret };
export const graphqlUrl = `${url}/v1/graphql`;
export const socketUrl = graphqlUrl.replace('http', 'ws');

/** Prints the results by name and ends the process, whatever sockets a client still holds. */
export async function report(run) {
  const results = await run();
  process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
}

/** Returns the requests sent through `fetch` so far, as `GET /v1/graphql`, and the fetch to give to a client. */
export function watchedFetch() {
  const requests = [];
  const watched = (input, init = {}) => {
    const { pathname } = new URL(typeof input === 'string' ? input : input.url);
    requests.push(`${init.method ?? 'GET'} ${pathname}`);
    return fetch(input, init);
  };
  return { requests, fetch: watched };
}
