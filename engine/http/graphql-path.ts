/** Where GraphQL is served: over POST and over WebSockets. The second is an older name of the first. */
export const GRAPHQL_PATHS: readonly string[] = ['/v1/graphql', '/v1alpha1/graphql'];

/** `url`: as in the request line, with or without a query string. */
export function isGraphqlPath(url: string): boolean {
  return GRAPHQL_PATHS.some(
    (path) => url.startsWith(path) && (url.length === path.length || url[path.length] === '?'),
  );
}
