/** Applies a request transform to a webhook request: method, URL, query parameters, headers and body. Pure.
 *  Raises TransformError. Not here: sending the request (webhook/call.ts). Reference: docs/reference/behaviour/actions.md. */
import type { RequestTransform } from '../metadata/schema/common.ts';
import { type TransformedBody, transformedBody, urlEncoded } from './body.ts';
import type { TemplateScope } from './evaluate.ts';
import { renderedText, type SessionVariables, scopeOf, TransformError } from './render.ts';

export type TransformedRequest = {
  readonly method: string;
  readonly url: string;
  /** The headers, with names in lower case, each at most once. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: TransformedBody;
};

/** The request without a transform. `body` is its JSON value. */
export type PlainRequest = Omit<TransformedRequest, 'body'> & { readonly body: unknown };

export function transformRequest(
  transform: RequestTransform,
  plain: PlainRequest,
  session: SessionVariables,
): TransformedRequest {
  const scope = scopeOf(requestBindings(plain, session), session);
  const body = transformedBody(transform.body, plain.body, scope);
  return {
    method: transform.method?.toUpperCase() ?? plain.method,
    url: withQuery(transformedUrl(transform, plain, scope), transform.query_params, scope),
    headers: transformedHeaders(transform, plain, body, scope),
    body,
  };
}

/** Returns the names that templates about the request can use. Templates about the response have the same under `$request`. */
export function requestBindings(
  plain: PlainRequest,
  session: SessionVariables,
): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ['$body', plain.body],
    ['$base_url', plain.url],
    ['$query_params', Object.fromEntries(parametersOf(queryOf(plain.url)))],
    ['$session_variables', session],
  ]);
}

function transformedUrl({ url }: RequestTransform, plain: PlainRequest, scope: TemplateScope): string {
  const wanted = url === undefined ? plain.url : renderedText(url, scope);
  if (!URL.canParse(wanted)) {
    throw new TransformError({ error_code: 'Request Error', message: `Invalid URL: ${wanted}` });
  }
  return url === undefined ? new URL(wanted).href : wanted;
}

/** Adds query parameters to a URL. A parameter replaces one of the same name, and is omitted if its value is null. */
function withQuery(url: string, wanted: RequestTransform['query_params'], scope: TemplateScope): string {
  if (wanted === undefined) return url;
  const [address = '', fragment] = url.split('#');
  const kept = parametersOf(queryOf(address));
  const added = typeof wanted === 'string' ? queryText(wanted, scope) : queryMap(wanted, kept, scope);
  const path = address.split('?')[0]!;
  return `${path}${added === '' ? '' : '?'}${added}${fragment === undefined ? '' : `#${fragment}`}`;
}

function queryText(wanted: string, scope: TemplateScope): string {
  return renderedText(wanted, scope).replace(/^\?/, '');
}

function queryMap(
  wanted: Readonly<Record<string, string | null>>,
  kept: Map<string, string | null>,
  scope: TemplateScope,
): string {
  for (const [name, value] of Object.entries(wanted)) {
    const key = renderedText(name, scope);
    const text = value === null ? null : renderedText(value, scope);
    if (key !== 'null' && text !== 'null') kept.set(key, text);
  }
  return urlEncoded([...kept]);
}

function queryOf(url: string): string {
  return url.split('#')[0]!.split('?').slice(1).join('?');
}

function parametersOf(query: string): Map<string, string | null> {
  return new Map(new URLSearchParams(query));
}

function transformedHeaders(
  { request_headers: wanted }: RequestTransform,
  plain: PlainRequest,
  body: TransformedBody,
  scope: TemplateScope,
): ReadonlyMap<string, string> {
  const headers = new Map(plain.headers);
  if (body.kind === 'none') headers.delete('content-type');
  if (body.kind === 'form') headers.set('content-type', 'application/x-www-form-urlencoded');
  for (const name of wanted?.remove_headers ?? []) headers.delete(name.toLowerCase());
  for (const [name, value] of Object.entries(wanted?.add_headers ?? {})) {
    headers.set(name.toLowerCase(), renderedText(value, scope));
  }
  return headers;
}
