/** Whatever was thrown → the error row a client may see. Rows go as they are; anything else is our own mistake: it is
 *  reported with its cause, and the client learns no more than that it happened.
 *  Also here: who is shown the `internal` part of an error. */
import type { Options } from '../config/options.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { Observe } from '../observe/observation.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';

export function errorFrom(thrown: unknown, observe: Observe, requestId: string): EngineError {
  if (thrown instanceof EngineError) return thrown;
  if (isCutOff(thrown)) return new EngineError('parseFailed', { text: 'the request ended before its body' });
  observe({ kind: 'unexpected', requestId, error: thrown });
  return new EngineError('unexpected', { text: 'internal server error' });
}

/** How long a client should wait before it repeats a request that the engine had no room for. RFC 9110, section 10.2.3. */
export function retryAfter({ status }: EngineError): Readonly<Record<string, string>> {
  return status === 503 ? { 'retry-after': '5' } : {};
}

/** The client has gone in the middle of its body: nobody hears the answer, and it is no failure of ours. */
function isCutOff(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    thrown.message === 'aborted' &&
    'code' in thrown &&
    thrown.code === 'ECONNRESET'
  );
}

/** Everyone in dev mode; otherwise administrators, unless that is turned off. */
export function showsInternal(
  options: Pick<Options, 'devMode' | 'adminInternalErrors'>,
  session: Session | null,
): boolean {
  return options.devMode || (options.adminInternalErrors && session?.role === ADMIN_ROLE);
}
