/** The endpoints of administrators: POST /v1/query, /v1/metadata and /v2/query, and /v1/graphql/explain, which belongs
 *  to the metadata API. In: a JSON body and a session. Out: what admin/run.ts and execute/explain.ts answer.
 *  A header prefix other than ours is rewritten here, on the way in and on the way out.
 *  Not here: what an operation does (admin/). Spec: "Schema/metadata API", "Explain API". */
import type { FastifyInstance } from 'fastify';
import { type AdminEndpoint, runAdmin } from '../admin/run.ts';
import { fromWire, textToWire, toWire } from '../config/header-prefix.ts';
import { fail } from '../errors/engine-error.ts';
import type { HttpContext } from './context.ts';
import { exchangeOf, sessionOf } from './exchange.ts';
import { showsInternal } from './refusal.ts';

export const ADMIN_ENDPOINTS: readonly AdminEndpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];

export function adminRoutes(app: FastifyInstance, context: HttpContext): void {
  const prefix = context.options.headerPrefix;
  for (const endpoint of ADMIN_ENDPOINTS) {
    app.post(endpoint, async (request, reply) => {
      const session = sessionOf(request);
      // No body at all never reaches the parser.
      if (request.body === undefined) fail('invalidJson', {});
      const { status, body, unexpected } = await runAdmin(context.state, fromWire(request.body, prefix), {
        endpoint,
        session,
        showInternal: showsInternal(context.options, session),
      });
      if (unexpected !== undefined) {
        context.observe({ kind: 'unexpected', requestId: request.id, error: unexpected });
      }
      if (status !== 200) exchangeOf(request).error = body;
      const text = JSON.stringify(toWire(body, prefix));
      return reply
        .code(status)
        .type('application/json; charset=utf-8')
        .send(status === 200 ? text : textToWire(text, prefix));
    });
  }
}
