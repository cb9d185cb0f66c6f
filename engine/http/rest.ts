/** `/api/rest/…` on bare node:http, like /v1/graphql: the path selects an endpoint, the query string and the body set
 *  the variables of its document, and the answer is the bare `data`. Authentication, session and CORS are those of
 *  GraphQL. Failures have the plain error body and the status of the error.
 *  Not here: routes (resolve/routes.ts), the document (execute/endpoint.ts). Reference:
 *  docs/reference/behaviour/endpoints.md. */
import type { IncomingMessage } from 'node:http';
import { fail, toAdminBody } from '../errors/engine-error.ts';
import { answerEndpoint, type EndpointArguments } from '../execute/endpoint.ts';
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import { textToWire } from '../metadata/header-prefix.ts';
import { InputSize } from '../plan/selection-size.ts';
import type { Model } from '../resolve/model/model.ts';
import type { Match, Routes } from '../resolve/routes.ts';
import type { Session } from '../resolve/session.ts';
import { isLongBody, parseLongBody } from './body/long-body.ts';
import { readBody } from './body/read-body.ts';
import type { HttpContext } from './context.ts';
import { errorFrom, retryAfter, showsInternal } from './error-response.ts';
import {
  addressOf,
  answerContextOf,
  beginOperation,
  checkMutation,
  checkRateLimit,
  checkRole,
  endOperation,
  type RunningOperation,
} from './operation.ts';
import type { RequestRecord } from './request-record.ts';
import { type HttpResponse, handlerOf, type NodeHandler } from './respond.ts';

const REST_PATH = '/api/rest/';

/** Methods that browsers send across origins without a preflight. */
const SIMPLE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** True for requests to REST endpoints. Preflights are answered by the framework. */
export function isRest({ method, url }: IncomingMessage): boolean {
  return method !== 'OPTIONS' && url!.startsWith(REST_PATH);
}

export function restHandler(context: HttpContext): NodeHandler {
  return handlerOf(context, handle);
}

async function handle(
  context: HttpContext,
  record: RequestRecord,
  request: IncomingMessage,
): Promise<HttpResponse> {
  const operation = beginOperation(context, record.id, 'rest', request.headers);
  try {
    context.crossSite.checkSite(request);
    const { headers, method = '' } = request;
    const session = await context.authenticate(headers);
    record.session = session;
    checkRole(session, context.options.headerPrefix);
    const text = await readBody(context, request, record, session);
    const { model } = context.state.snapshot();
    const [path, query] = partsOf(request.url!);
    const { endpoint, values } = endpointAt(model.routes, path, method);
    record.graphqlBody = { query: endpoint.query };
    operation.progress.endpoint = endpoint.name;
    const address = addressOf(request, context.options.trustedProxies);
    checkRateLimit(context.rateLimiter, { model, session, address });
    const form = isForm(headers['content-type'] ?? '', text) ? text : '';
    const isEmpty = form !== '' || text.trim() === '';
    const json = isEmpty
      ? null
      : isLongBody(text)
        ? await parseLongBody(text, model, session)
        : parseJson(text);
    const given = argumentsOf(values, query, form, json ?? {}, model, session);
    const answerContext = answerContextOf(context, session, headers, operation, record);
    const mayWrite = () => {
      if (SIMPLE_METHODS.has(method)) context.crossSite.checkPreflighted(headers);
      checkMutation(session);
    };
    const body = await answerEndpoint(endpoint, { ...given, mayWrite }, { model, ...answerContext });
    endOperation(context, operation, null);
    const isKept = method === 'GET' && endpoint.maxAgeSeconds !== null;
    return {
      status: 200,
      body,
      ...(isKept ? { headers: { 'cache-control': `max-age=${endpoint.maxAgeSeconds}` } } : {}),
    };
  } catch (thrown) {
    return refusal(context, record, operation, thrown);
  }
}

/** Splits path and query string. `URL` is not used, because it resolves `..`. */
function partsOf(url: string): readonly [path: readonly string[], query: string] {
  const [path = '', ...query] = url.slice(REST_PATH.length).split('?');
  return [path.split('/').map(decoded), query.join('?')];
}

/** Finds the endpoint of a path and method. Raises `endpointNotFound`, `methodNotAllowed`. */
function endpointAt(routes: Routes, path: readonly string[], method: string): Match {
  const matches = routes.match(path);
  if (matches.length === 0) fail('endpointNotFound', {});
  const found = matches.find(({ endpoint }) => endpoint.methods.some((allowed) => allowed === method));
  if (found) return found;
  const allowed = matches.flatMap(({ endpoint }) => endpoint.methods);
  return fail('methodNotAllowed', { allowed: [...new Set(allowed)].sort().join(', ') });
}

/** Decodes a segment of the path. A slash in a value is sent as `%2F`. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return fail('endpointNotFound', {});
  }
}

/** True for a form; any other body is JSON. An object in JSON counts even if its content type says form, as curl's does. */
function isForm(contentType: string, body: string): boolean {
  return contentType.startsWith('application/x-www-form-urlencoded') && !/^\s*\{/.test(body);
}

/** Collects the variables. `json` is the value of a body that is no form. Raises `parseFailed`, `tooManyInputs`. */
function argumentsOf(
  fromPath: Readonly<Record<string, string>>,
  query: string,
  form: string,
  json: unknown,
  { requestBounds }: Model,
  { role }: Session,
): Omit<EndpointArguments, 'mayWrite'> {
  const inputs = new InputSize(requestBounds, role);
  const path = Object.entries(fromPath).map(([name, text]) => [name, [text]] as const);
  return {
    path: new Map(path),
    texts: new Map([...textsOf(form, inputs), ...textsOf(query, inputs)]),
    values: isRecord(json) ? json : fail('parseFailed', { text: 'expected an object' }),
    parseJson,
  };
}

/** Counts the fields before they are read, each of which is parsed on its own, and groups them by name. */
function textsOf(encoded: string, inputs: InputSize): ReadonlyMap<string, readonly string[]> {
  if (encoded === '') return NO_TEXTS;
  let fields = 1;
  for (let at = encoded.indexOf('&'); at >= 0; at = encoded.indexOf('&', at + 1)) fields++;
  inputs.count(fields * TEXT_WEIGHT);
  const named = Map.groupBy(new URLSearchParams(encoded), ([name]) => name);
  return new Map([...named].map(([name, pairs]) => [name, pairs.map(([, text]) => text)]));
}

const NO_TEXTS: ReadonlyMap<string, readonly string[]> = new Map();

/** The number of input values that a field of a form or a query string counts as. */
const TEXT_WEIGHT = 5;

function refusal(
  context: HttpContext,
  record: RequestRecord,
  operation: RunningOperation,
  thrown: unknown,
): HttpResponse {
  const error = errorFrom(thrown, context, record.id);
  endOperation(context, operation, error);
  record.error = toAdminBody(error, 'newer', showsInternal(context.options, record.session));
  const body = textToWire(JSON.stringify(record.error), context.options.headerPrefix);
  return { status: error.status, body, headers: retryAfter(error) };
}
