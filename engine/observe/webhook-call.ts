/** Asking a service of the administrator's, as it is told to those who observe: how long it took and what came of it, and the
 *  span it is asked in. Not here: the asking (auth/webhook.ts, execute/webhook.ts, execute/remote-http.ts). */
import type { Observe, WebhookCalled } from './observation.ts';
import { type Span, within } from './span.ts';

export type Asking = Pick<WebhookCalled, 'purpose' | 'url' | 'method'>;

/** Whoever looks on. */
export type Onlookers = { readonly observe?: Observe; readonly span?: Span | null };

/** `ask` is given the headers that tell the service of the span. */
export function witnessed<T extends { readonly status: number }>(
  asking: Asking,
  { observe, span }: Onlookers,
  ask: (traceHeaders: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const body = () => (span ? spanned(span, asking, ask) : ask({}));
  return observe ? observed(observe, asking, body) : body();
}

function spanned<T>(
  parent: Span,
  { purpose, url, method }: Asking,
  ask: (traceHeaders: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const attributes = { 'http.request.method': method, 'url.full': publicUrl(url) };
  const span = parent.child(purpose, 'client', attributes);
  return within(span, () => ask(span.headers));
}

/** `body` asks; what it raises is told by its message and goes on. */
async function observed<T extends { readonly status: number }>(
  observe: Observe,
  asking: Asking,
  body: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const tell = (status: number | null, failure: string | null) =>
    observe({
      kind: 'webhook called',
      ...asking,
      url: publicUrl(asking.url),
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
