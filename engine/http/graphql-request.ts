/** A parsed body → one GraphQL request, or `parseFailed` with the path of what is wrong. Pure.
 *  Unknown keys are let through unread, and so are `extensions` but for persisted queries, which there are none of.
 *  Spec: "GraphQL API". */

import { fail } from '../errors/engine-error.ts';
import type { GraphqlRequest } from '../execute/plan-cache.ts';
import { isRecord } from '../json/value.ts';

export function graphqlRequestFrom(body: unknown): GraphqlRequest {
  if (!isRecord(body))
    return fail('parseFailed', { text: `expected an object, but encountered ${nameOf(body)}` });
  const { query, operationName = null, variables = null, extensions } = body;
  if (isRecord(extensions) && (extensions['persistedQuery'] ?? null) !== null)
    fail('persistedQueriesDisabled', {});
  if (query === undefined) return fail('parseFailed', { text: 'key "query" not found' });
  if (typeof query !== 'string') return unexpected('query', 'a string', query);
  if (operationName !== null && typeof operationName !== 'string') {
    return unexpected('operationName', 'a string', operationName);
  }
  if (variables !== null && !isRecord(variables)) return unexpected('variables', 'an object', variables);
  // An empty name is none: clients send it for documents with one operation.
  return { query, operationName: operationName === '' ? null : operationName, variables };
}

function unexpected(key: string, expected: string, found: unknown): never {
  return fail(
    'parseFailed',
    { text: `expected ${expected}, but encountered ${nameOf(found)}` },
    { path: [key] },
  );
}

/** As the JSON standard calls it. */
function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`.replace('a object', 'an object');
}
