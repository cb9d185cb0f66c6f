/** A header sent twice: of ours the last one counts, because a gateway that adds what it has verified adds it after what the
 *  client sent. Node joins repeated headers with a comma, which would make `employee, admin` of two roles.
 *  Not here: headers of other names, whose lists mean something. */
import type { IncomingMessage } from 'node:http';

export function keepLastHeader(request: IncomingMessage, prefix: string): void {
  const { headers, rawHeaders } = request;
  // As many names as lines: nothing was repeated.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (name.startsWith(prefix)) headers[name] = rawHeaders[i + 1]!;
  }
}
