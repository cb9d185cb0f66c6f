/** Asking a service of the administrator's, as it is told to those who observe: how long it took and what came of it, and the
 *  span it is asked in. Not here: the call (auth/webhook.ts, webhook/call.ts, remote/http.ts). */
import type { Observe, WebhookCalled } from './observation.ts';
import { type Span, within } from './span.ts';

export type WebhookCall = Pick<WebhookCalled, 'purpose' | 'url' | 'method'>;

/** Whoever looks on. */
export type Telemetry = { readonly observe?: Observe; readonly span?: Span | null };

/** `ask` is given the headers that tell the service of the span. */
export function observeCall<T extends { readonly status: number }>(
  call: WebhookCall,
  { observe, span }: Telemetry,
  ask: (traceHeaders: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const body = () => (span ? spanned(span, call, ask) : ask({}));
  return observe ? observed(observe, call, body) : body();
}

function spanned<T>(
  parent: Span,
  { purpose, url, method }: WebhookCall,
  ask: (traceHeaders: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const attributes = { 'http.request.method': method, 'url.full': publicUrl(url) };
  const span = parent.child(purpose, 'client', attributes);
  return within(span, () => ask(span.headers));
}

/** `body` asks; what it raises is told by its message and goes on. */
async function observed<T extends { readonly status: number }>(
  observe: Observe,
  call: WebhookCall,
  body: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const tell = (status: number | null, failure: string | null) =>
    observe({
      kind: 'webhook called',
      ...call,
      url: publicUrl(call.url),
      status,
      failure,
      durationMs: performance.now() - startedAt,
    });
  try {
    const answer = await body();
    tell(answer.status, null);
    return answer;
  } catch (error) {
    tell(null, error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** Without what may be secret: user, password, query string, fragment. A template is no URL, and is cut all the same. */
export function publicUrl(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1').replace(/[?#].*$/s, '');
}
