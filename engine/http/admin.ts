/** The endpoints for administrators: POST /v1/query, /v1/metadata and /v2/query, and those that belong to the metadata
 *  API, /v1/graphql/explain, /api/swagger/json and /api/openapi.json. In: a JSON body and a session. Out: the answers of admin/run.ts
 *  and execute/explain.ts.
 *  A configured header prefix is translated here, in requests and in answers.
 *  Not here: what an operation does (admin/). Reference: docs/reference/behaviour/endpoints.md. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminEndpoint } from '../admin/request.ts';
import { runAdmin } from '../admin/run.ts';
import { consoleSession, trustedSession } from '../auth/authenticate.ts';
import { adviceOn } from '../config/compatibility.ts';
import { databasesOfRequest } from '../database/databases.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { explain } from '../execute/explain.ts';
import { isRecord } from '../json/value.ts';
import { fromWire, textToWire, toWire } from '../metadata/header-prefix.ts';
import { lintedDocument, openapiDocument } from '../plan/openapi.ts';
import type { HttpContext } from './context.ts';
import { showsInternal } from './error-response.ts';
import { graphqlRequestFrom } from './graphql-request.ts';
import { checkRole } from './operation.ts';
import { waitMsOf } from './prefer.ts';
import { adminSessionOf, readerSessionOf, recordOf, sessionOf } from './request-record.ts';
import { VERSION } from './version.ts';

export const ADMIN_ENDPOINTS: readonly AdminEndpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];

const EXPLAIN_PATHS = ['/v1/graphql/explain', '/v1alpha1/graphql/explain'];

export function adminRoutes(app: FastifyInstance, context: HttpContext): void {
  for (const endpoint of ADMIN_ENDPOINTS) {
    app.post(endpoint, (request, reply) => performOperation(context, endpoint, request, reply));
  }
  for (const path of EXPLAIN_PATHS) {
    app.post(path, async (request) => {
      const { isConsole } = readerSessionOf(request);
      const sessionOfUser = isConsole ? consoleSession : trustedSession;
      return explainAs(context, request.body, sessionOfUser, recordOf(request).signal.toAbortSignal());
    });
  }
  app.get('/api/swagger/json', async (request) => {
    adminSessionOf(request);
    return openapiDocument(context.state.snapshot().model, context.options.headerPrefix);
  });
  app.get('/api/openapi.json', async (request) => {
    adminSessionOf(request);
    const { headerPrefix } = context.options;
    const document = openapiDocument(context.state.snapshot().model, headerPrefix);
    return lintedDocument(document, { version: VERSION, headerPrefix });
  });
}

async function performOperation(
  context: HttpContext,
  endpoint: AdminEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = sessionOf(request);
  const prefix = context.options.headerPrefix;
  const { status, body, unexpected } = await runAdmin(context.state, fromWire(request.body, prefix), {
    endpoint,
    session,
    client: request.headers['user-agent'],
    targetWaitMs: waitMsOf(request.headers.prefer),
    showInternal: showsInternal(context.options, session),
    adviceOn: (error) => adviceOn(error, context.options),
    signal: recordOf(request).signal.toAbortSignal(),
  });
  if (unexpected !== undefined) {
    context.observe({ kind: 'unexpected', requestId: request.id, error: unexpected });
  }
  if (status !== 200) recordOf(request).error = body;
  const text = JSON.stringify(toWire(body, prefix));
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(status === 200 ? text : textToWire(text, prefix));
}

/** Returns the text of a session variable; other values count as their JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Explains `{query: {query, variables?, operationName?}, user?: {x-engine-role, …}, is_relay?}`. Without a user, the
 *  administrator is assumed; the console secret requires one. Raises `consoleRoleMissing`. */
async function explainAs(
  { options, state }: HttpContext,
  body: unknown,
  sessionOfUser: typeof trustedSession,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (!isRecord(body)) return fail('parseFailed', { text: 'expected an object' });
  if (body['query'] === undefined) fail('parseFailed', { text: 'key "query" not found' });
  const request = withPath('query', () => graphqlRequestFrom(body['query']));
  const user = body['user'] ?? {};
  if (!isRecord(user)) return fail('parseFailed', { text: 'expected an object' }, { path: ['user'] });
  const headers = Object.entries(user).map(([name, value]) => [name.toLowerCase(), textOf(value)]);
  const session = sessionOfUser(Object.fromEntries(headers), options.headerPrefix);
  checkRole(session, options.headerPrefix);
  const isRelay = body['is_relay'] === true;
  const databases = databasesOfRequest(state.sources, { signal });
  return explain(request, { model: state.snapshot().model, session, isRelay, databases });
}
