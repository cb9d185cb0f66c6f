/** The error of a request to an external service that got no response. Not here: raising it (http-client.ts, response-body.ts). */

/** The reason why there is no response. The message contains no part of the URL, which may come from the environment
 *  and hold secrets. */
export class NoResponse extends Error {
  readonly why: 'invalid' | 'timeout' | 'connection' | 'cut off' | 'too long';
  readonly isStale: boolean;

  constructor(why: NoResponse['why'], message: string, isStale = false) {
    super(message);
    this.why = why;
    this.isStale = isStale;
  }
}

/** Returns the reason of a connection error without any address: messages of the system contain it, and it may come from the environment.
 *  Those of the WebSocket library do not. */
export function connectionReason(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && !code.startsWith('WS_') ? code : error.message;
}
