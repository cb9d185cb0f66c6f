/** What the executor is given of an HTTP or WebSocket operation, whatever the endpoint: who asks, the databases, what webhooks
 *  may know of the client, and where progress is told. Not here: the model, which belongs to the snapshot the request sees. */
import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerContext } from '../execute/answer.ts';
import type { Session } from '../resolve/session.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import type { HttpContext } from './context.ts';
import type { RequestRecord } from './exchange.ts';
import type { RunningOperation } from './operation.ts';
import { showsInternal } from './refusal.ts';

export function answerContextOf(
  { state, options, observe, asyncActions, remoteCache }: HttpContext,
  session: Session,
  headers: IncomingHttpHeaders,
  { progress }: RunningOperation,
  record?: RequestRecord,
  signal = record?.signal,
): Omit<AnswerContext, 'model' | 'outbound'> & { readonly outbound: OutboundContext } {
  const outbound = {
    variables: state.outboundVariables,
    trusts: state.trusts,
    headers,
    headerPrefix: options.headerPrefix,
    observe,
    showsInternal: showsInternal(options, session),
    asyncActions,
    ...(remoteCache && { remoteCache }),
    prefersConfiguredHeaders: options.configuredHeaderPrecedence,
    ...(record && { record }),
    signal,
  };
  return { session, databases: state.sources, outbound, progress };
}
