/** Where GraphQL is served: over POST and over WebSockets. The older path differs in one thing: a failed request has the
 *  status of its error there, where the newer one answers 200; at the relay path rows come in connections. Reference: docs/reference/behaviour/endpoints.md. */
export const OLDER_GRAPHQL_PATH = '/v1alpha1/graphql';
const RELAY_PATH = '/v1beta1/relay';
const GRAPHQL_PATHS: readonly string[] = ['/v1/graphql', OLDER_GRAPHQL_PATH, RELAY_PATH];

/** `url`: as in the request line, with or without a query string. */
export function isGraphqlPath(url: string): boolean {
  return GRAPHQL_PATHS.some(
    (path) => url.startsWith(path) && (url.length === path.length || url[path.length] === '?'),
  );
}

export function isRelayPath(url: string): boolean {
  return url.startsWith(RELAY_PATH);
}
