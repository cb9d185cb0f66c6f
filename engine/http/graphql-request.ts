/** A GraphQL request: the paths it may be sent to, and its parsed body or query string → query, operation name and variables. Pure.
 *  Unknown keys of the body are ignored, and so are `extensions`, except that persisted queries are refused.
 *  Not here: what the query means (plan/). Reference: docs/reference/behaviour/endpoints.md. */
import { fail } from '../errors/engine-error.ts';
import type { GraphqlRequest } from '../execute/plan-cache.ts';
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';

/** The older path: a failed request has the status of its error there, where the newer path answers 200. */
const OLDER_GRAPHQL_PATH = '/v1alpha1/graphql';
/** The path where tables are connections, as Relay wants them. */
const RELAY_PATH = '/v1beta1/relay';
const GRAPHQL_PATH = '/v1/graphql';
const GRAPHQL_PATHS: readonly string[] = [GRAPHQL_PATH, OLDER_GRAPHQL_PATH, RELAY_PATH];

/** True for the URL of a GraphQL endpoint, with or without a query string. */
export function isGraphqlPath(url: string): boolean {
  if (url === GRAPHQL_PATH) return true;
  return GRAPHQL_PATHS.some(
    (path) => url.startsWith(path) && (url.length === path.length || url[path.length] === '?'),
  );
}

export function isOlderPath(url: string): boolean {
  return url.startsWith(OLDER_GRAPHQL_PATH);
}

export function isRelayPath(url: string): boolean {
  return url.startsWith(RELAY_PATH);
}

/** Reads a GraphQL request from a parsed body. Raises `parseFailed` with the path of the wrong value. */
export function graphqlRequestFrom(body: unknown): GraphqlRequest {
  if (!isRecord(body))
    return fail('parseFailed', { text: `expected an object, but encountered ${jsonTypeOf(body)}` });
  const { query, operationName = null, variables = null, extensions } = body;
  if (isRecord(extensions) && (extensions['persistedQuery'] ?? null) !== null) {
    // Clients that send a hash alone wait for this error, and send the text from then on.
    fail(query === undefined ? 'persistedQueryNotSupported' : 'persistedQueriesDisabled', {});
  }
  if (query === undefined) return fail('parseFailed', { text: 'key "query" not found' });
  if (typeof query !== 'string') return unexpected('query', 'a string', query);
  if (operationName !== null && typeof operationName !== 'string') {
    return unexpected('operationName', 'a string', operationName);
  }
  if (variables !== null && !isRecord(variables)) return unexpected('variables', 'an object', variables);
  // Clients send an empty name for documents with one operation.
  return { query, operationName: operationName === '' ? null : operationName, variables };
}

/** Returns the body that a query string stands for: `?query=…&variables={…}`. Raises `invalidJson`. */
export function bodyOfUrl(url: string): Readonly<Record<string, unknown>> {
  const given = new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length));
  const text = (name: string) => given.get(name) ?? undefined;
  const json = (name: string) => (given.get(name) ? parseJson(given.get(name)!) : undefined);
  return {
    query: text('query'),
    operationName: text('operationName'),
    variables: json('variables'),
    extensions: json('extensions'),
  };
}

function unexpected(key: string, expected: string, found: unknown): never {
  return fail(
    'parseFailed',
    { text: `expected ${expected}, but encountered ${jsonTypeOf(found)}` },
    { path: [key] },
  );
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`.replace('a object', 'an object');
}
