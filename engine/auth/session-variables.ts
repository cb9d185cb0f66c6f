/** Session variables from request headers, and from the claims of tokens and the authentication hook. From headers
 *  these are all headers with the configured prefix except the secrets, renamed to the internal prefix. Names arrive
 *  in lower case from Node; values are read as UTF-8.
 *  Not here: which headers are trusted (authenticate.ts). */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { headerText } from '../outgoing/header-values.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';

/** The headers, without the prefix, that may hold the admin secret. The second is an older name of the first. */
const ADMIN_SECRET_HEADERS = ['admin-secret', 'access-key'];
const CONSOLE_SECRET_HEADERS = ['console-secret'];

/** The headers with the prefix that are no session variables. */
const SECRET_HEADERS = [...ADMIN_SECRET_HEADERS, ...CONSOLE_SECRET_HEADERS];

export function sessionVariablesOf(headers: IncomingHttpHeaders, prefix: string): Session['variables'] {
  const variables: Record<string, string> = {};
  for (const name in headers) {
    if (!name.startsWith(prefix)) continue;
    const rest = name.slice(prefix.length);
    const value = headers[name];
    if (value === undefined || rest === '' || SECRET_HEADERS.includes(rest)) continue;
    variables[SESSION_PREFIX + rest] = headerText(value);
  }
  return variables;
}

/** Returns the text of a claim; any other value is written as JSON. */
export function variableOf(claim: unknown): string {
  return typeof claim === 'string' ? claim : JSON.stringify(claim);
}

/** The prefix of the reference engine, whose tokens and authentication hooks are accepted as they are. */
const REFERENCE_PREFIX = 'x-hasura-';

/** Returns the entries whose name has the configured prefix, under their internal names. Only if there are none, those with the
 *  prefix of the reference engine count: names of the two are never mixed. */
export function sessionEntries<T>(entries: Iterable<readonly [string, T]>, prefix: string): [string, T][] {
  const lower = [...entries].map(([name, value]) => [name.toLowerCase(), value] as const);
  const of = (known: string) =>
    lower
      .filter(([name]) => name.startsWith(known))
      .map(([name, value]): [string, T] => [SESSION_PREFIX + name.slice(known.length), value]);
  const own = of(prefix);
  return own.length > 0 ? own : of(REFERENCE_PREFIX);
}

/** Returns the admin secret of a request, if it has one. */
export function adminSecretOf(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  return firstOf(ADMIN_SECRET_HEADERS, headers, prefix);
}

/** Returns the console secret of a request, if it has one. */
export function consoleSecretOf(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  return firstOf(CONSOLE_SECRET_HEADERS, headers, prefix);
}

function firstOf(names: readonly string[], headers: IncomingHttpHeaders, prefix: string): string | undefined {
  for (const name of names) {
    const found = headers[prefix + name];
    if (found !== undefined) return headerText(found);
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
