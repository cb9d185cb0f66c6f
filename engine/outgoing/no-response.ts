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
