/** Telemetry of a call to an external service: its duration and result as an observation, and a span around it.
 *  Not here: the call (auth/webhook.ts, webhook/call.ts, remote/http.ts). */
import type { Observe, WebhookCalled } from './observation.ts';
import { type Span, within } from './span.ts';

type WebhookCall = Pick<
  WebhookCalled,
  'purpose' | 'url' | 'method' | 'requestId' | 'action' | 'event' | 'requestSizeBytes'
>;

/** The parts of an answer that are reported. */
type Answer = { readonly status: number; readonly responseSizeBytes?: number };

/** The observer and the span that a call is reported to. */
type Telemetry = { readonly observe?: Observe; readonly span?: Span | null };

/** Calls a service with `send`, which receives the headers that pass the trace on. */
export function observeCall<T extends Answer>(
  call: WebhookCall,
  { observe, span }: Telemetry,
  send: (traceHeaders: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const body = () => (span ? spanned(span, call, send) : send({}));
  return observe ? observed(observe, call, body) : body();
}

function spanned<T>(
  parent: Span,
  { purpose, url, method }: WebhookCall,
  send: (traceHeaders: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const attributes = { 'http.request.method': method, 'url.full': publicUrl(url) };
  const span = parent.child(purpose, 'client', attributes);
  return within(span, () => send(span.headers));
}

/** Runs `body` and reports it; an error is reported by its message and raised again. */
async function observed<T extends Answer>(
  observe: Observe,
  call: WebhookCall,
  body: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const report = (status: number | null, failure: string | null, responseSizeBytes?: number) =>
    observe({
      kind: 'webhook called',
      ...call,
      url: publicUrl(call.url),
      status,
      failure,
      responseSizeBytes,
      durationMs: performance.now() - startedAt,
    });
  try {
    const answer = await body();
    report(answer.status, null, answer.responseSizeBytes);
    return answer;
  } catch (error) {
    report(null, error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** Returns the URL without its secret parts: user, password, query string, fragment. It also works on URL templates. */
export function publicUrl(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1').replace(/[?#].*$/s, '');
}
