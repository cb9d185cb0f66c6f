/** Session variables: what request headers say of them, and what tokens and the hook claim. From headers it is every one
 *  with our prefix except the secrets, renamed to the prefix the engine uses inside. Names come lower-cased from Node;
 *  values stay as sent. Not here: which of them may be believed (authenticate.ts). */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';

/** Header names after the prefix that hold the admin secret; the second is an older name of the first. */
const SECRET_HEADERS = ['admin-secret', 'access-key'];

export function sessionVariablesOf(headers: IncomingHttpHeaders, prefix: string): Session['variables'] {
  const variables: Record<string, string> = {};
  for (const name in headers) {
    if (!name.startsWith(prefix)) continue;
    const rest = name.slice(prefix.length);
    const value = headers[name];
    if (value === undefined || rest === '' || SECRET_HEADERS.includes(rest)) continue;
    variables[SESSION_PREFIX + rest] = Array.isArray(value) ? value.join(', ') : value;
  }
  return variables;
}

/** What a token or the hook claims: one that is no text is its JSON. */
export function variableOf(claim: unknown): string {
  return typeof claim === 'string' ? claim : JSON.stringify(claim);
}

/** `X-Engine-User-Id`, whatever the prefix on the wire → `x-engine-user-id`. */
export function variableName(name: string, prefix: string): string {
  const lower = name.toLowerCase();
  return lower.startsWith(prefix) ? SESSION_PREFIX + lower.slice(prefix.length) : lower;
}

/** The admin secret a request brings, or `undefined`. */
export function secretOf(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  for (const name of SECRET_HEADERS) {
    const found = headers[prefix + name];
    if (found !== undefined) return Array.isArray(found) ? found.join(', ') : found;
  }
  return undefined;
}

/** Keeps the last value of each header with the prefix that a request sends twice. Gateways append the values they have verified after
 *  those of the client, and Node would join both with a comma: `employee, admin`. Repeated headers of other names stay lists. */
export function keepLastHeader(request: IncomingMessage, prefix: string): void {
  const { headers, rawHeaders } = request;
  // As many names as lines: no header is repeated.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (name.startsWith(prefix)) headers[name] = rawHeaders[i + 1]!;
  }
}
