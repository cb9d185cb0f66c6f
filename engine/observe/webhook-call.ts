/** Asking a service of the administrator's, as it is told to those who observe: how long it took and what came of it.
 *  Not here: the asking (auth/webhook.ts, execute/webhook.ts). */
import type { Observe, WebhookCalled } from './observation.ts';

export type Asking = Pick<WebhookCalled, 'purpose' | 'url' | 'method'>;

/** `body` asks; what it raises is told by its message and goes on. */
export async function observed<T extends { readonly status: number }>(
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
