/** Sessions and session variables: the role and the variables of a request, and the texts in permissions that name a variable.
 *  Text that looks like the name of a variable and is none, `X-Hasura-Slug` or `X-Engin-Slug`, is refused: compared as text,
 *  `{slug: {_neq: "X-Engin-Slug"}}` would admit every row. `{"$literal": "X-Engin-Slug"}` means the text itself.
 *  Pure. Not here: creating sessions (auth/), values of permissions (value.ts, remote-permission.ts). */
import { fail } from '../errors/engine-error.ts';
import { editDistance } from '../errors/nearest.ts';
import { isRecord } from '../json/value.ts';

export const ADMIN_ROLE = 'admin';

export type Session = {
  readonly role: string;
  /** Texts by full lower-case name (`x-engine-user-id`), including the role. */
  readonly variables: Readonly<Record<string, string>>;
  /** True when the request has the admin secret and asks for `backend_only` permissions. */
  readonly mayUseBackendOnly: boolean;
  /** True for a request with the console secret, which changes nothing. Its role is never the one of administrators, and empty when the
   *  request names none. */
  readonly isConsole?: true;
  /** The time, in milliseconds since the epoch, when the credentials expire and WebSockets that use them are closed. */
  readonly expiresAt?: number;
  /** Values of Set-Cookie headers that the authentication hook sends to the client. */
  readonly setCookies?: readonly string[];
};

/** The settings of a transaction that hold the session, for triggers (execute/session-settings.ts). */
export const SESSION_SETTINGS = ['engine.user', 'engine.trace', 'hasura.user'] as const;
export type SessionSetting = (typeof SESSION_SETTINGS)[number];

/** The prefix of session variables inside the engine. Another prefix (--header-prefix) is rewritten at the edge. */
export const SESSION_PREFIX = 'x-engine-';

/** Returns the name inside the engine of the session variable that a text of the metadata names (`X-Engine-User-Id`, in any case);
 *  undefined for other text. `prefix` is the prefix on the wire, which documents may use too. */
export function sessionVariableOf(text: string, prefix = SESSION_PREFIX): string | undefined {
  const lower = text.toLowerCase();
  const own = [SESSION_PREFIX, prefix].find(
    (known) => lower.startsWith(known) && lower.length > known.length,
  );
  return own && SESSION_PREFIX + lower.slice(own.length);
}

/** The prefixes of the engine itself and of the reference engine, whose metadata it reads. */
const KNOWN_PREFIXES = [SESSION_PREFIX, 'x-hasura-'];

/** Returns how many letters of a prefix may be wrong: one, or two in a prefix that is long enough not to resemble other words. */
const nearTo = (prefix: string) => (prefix.length < 8 ? 1 : 2);

/** Raises `unknownVariable` for a value of a permission with text that resembles the name of a session variable. `prefix` is the
 *  prefix on the wire. `isFormatted` is true for a type whose values never begin with `x-`: there every such text was meant as a name. */
export function refuseMistakes(value: unknown, prefix: string, isFormatted = false): void {
  if (typeof value === 'string') {
    const meant = meantBy(value, prefix) ?? (isFormatted ? withOwnPrefix(value) : undefined);
    if (meant !== undefined) fail('unknownVariable', { text: value, meant });
    return;
  }
  refuseInside(value, prefix);
}

/** Raises `variableInsideJson` for the name of a session variable inside a JSON value, where it would not be replaced. */
function refuseInside(value: unknown, prefix: string): void {
  if (typeof value === 'string') {
    const isName = sessionVariableOf(value, prefix) !== undefined || meantBy(value, prefix) !== undefined;
    if (isName) fail('variableInsideJson', { text: value });
  } else if (Array.isArray(value)) for (const item of value) refuseInside(item, prefix);
  else if (isRecord(value)) for (const item of Object.values(value)) refuseInside(item, prefix);
}

/** Returns the session variable that a text resembles, with the prefix of the engine; undefined when it resembles none. */
export function meantBy(text: string, prefix = SESSION_PREFIX): string | undefined {
  if (sessionVariableOf(text, prefix) !== undefined) return undefined;
  const name = text.trim().toLowerCase().replaceAll('_', '-');
  const near = [...new Set([...KNOWN_PREFIXES, prefix])].flatMap((known) => nearness(name, known));
  const [best] = near.toSorted((a, b) => a.distance - b.distance);
  if (!best || (best.rest === '' && best.distance > 0)) return undefined;
  const meant = SESSION_PREFIX + (best.rest || '…');
  return /^\s*[A-Z]/.test(text) ? meant.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase()) : meant;
}

/** Returns a text that begins with `x-` as a session variable: `X-Engine-Org-Id` for `X-Org-Id`; undefined for other text. */
function withOwnPrefix(text: string): string | undefined {
  const rest = /^\s*x[-_](?=[a-z])/i.exec(text)?.[0];
  if (rest === undefined) return undefined;
  const prefix = rest.trimStart().startsWith('X') ? 'X-Engine-' : SESSION_PREFIX;
  return prefix + text.slice(rest.length).trimEnd();
}

/** Returns how near the start of the name is to the prefix, and the rest of the name. */
function nearness(
  name: string,
  prefix: string,
): readonly { readonly distance: number; readonly rest: string }[] {
  if (name[0] !== prefix[0]) return [];
  const most = nearTo(prefix);
  const lengths = Array.from({ length: 2 * most + 1 }, (_, i) => prefix.length - most + i);
  return lengths.flatMap((length) => {
    const rest = name.slice(length).replace(/^-+/, '');
    const distance = editDistance(name.slice(0, length), prefix);
    return distance <= most ? [{ distance, rest }] : [];
  });
}
