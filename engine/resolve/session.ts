/** Who asks: a role and the session variables that came with it. Made by auth/, read when a statement is bound. */
import { fail } from '../errors/engine-error.ts';
import { editDistance } from '../errors/nearest.ts';
import { isRecord } from '../json/value.ts';

export const ADMIN_ROLE = 'admin';

export type Session = {
  readonly role: string;
  /** Lower-case full names (`x-engine-user-id`) → text. Includes the role under its own name. */
  readonly variables: Readonly<Record<string, string>>;
  /** May use `backend_only` permissions: has the admin secret and asked for them. */
  readonly mayUseBackendOnly: boolean;
  /** Milliseconds since the epoch: then the credentials are void, and a WebSocket that relied on them ends. */
  readonly expiresAt?: number;
  /** Values of Set-Cookie headers the authentication hook has for the client. */
  readonly setCookies?: readonly string[];
};

/** Prefix of session variables inside the engine. Another prefix on the wire or in metadata is rewritten at the edge. */
export const SESSION_PREFIX = 'x-engine-';

/** The session variable that a metadata string is (`X-Engine-User-Id`), in any case, by its name inside the engine; undefined
 *  for other text. `prefix`: the one on the wire, which documents may have been written with. */
export function sessionVariableOf(text: string, prefix = SESSION_PREFIX): string | undefined {
  const lower = text.toLowerCase();
  const own = [SESSION_PREFIX, prefix].find(
    (known) => lower.startsWith(known) && lower.length > known.length,
  );
  return own && SESSION_PREFIX + lower.slice(own.length);
}

/** The only key of an object that stands for its value as it is. */
export const LITERAL_KEY = '$literal';

export type Literal = { readonly [LITERAL_KEY]: unknown };

export function isLiteral(value: unknown): value is Literal {
  return isRecord(value) && Object.keys(value).length === 1 && Object.hasOwn(value, LITERAL_KEY);
}

/** Prefixes of the engine itself and of the engine whose metadata it reads. */
const KNOWN_PREFIXES = [SESSION_PREFIX, 'x-hasura-'];

/** A slip of one letter is near; of two in a prefix that is long enough to be told from other words. */
const nearTo = (prefix: string) => (prefix.length < 8 ? 1 : 2);

/** Raises `unknownVariable` for a value of a rule that holds text like the name of a session variable. `prefix`: the engine's
 *  own on the wire. */
export function refuseMistakes(value: unknown, prefix: string): void {
  if (typeof value === 'string') {
    const meant = meantBy(value, prefix);
    if (meant !== undefined) fail('unknownVariable', { text: value, meant });
    return;
  }
  refuseInside(value, prefix);
}

/** Inside a JSON value nothing stands for a session variable, so that its name cannot be meant as text either. */
function refuseInside(value: unknown, prefix: string): void {
  if (typeof value === 'string') {
    const isName = sessionVariableOf(value, prefix) !== undefined || meantBy(value, prefix) !== undefined;
    if (isName) fail('variableInsideJson', { text: value });
  } else if (Array.isArray(value)) for (const item of value) refuseInside(item, prefix);
  else if (isRecord(value)) for (const item of Object.values(value)) refuseInside(item, prefix);
}

/** The session variable that was meant, spelled with the engine's prefix; undefined where the text is like none. */
export function meantBy(text: string, prefix = SESSION_PREFIX): string | undefined {
  if (sessionVariableOf(text, prefix) !== undefined) return undefined;
  const name = text.trim().toLowerCase().replaceAll('_', '-');
  const near = [...new Set([...KNOWN_PREFIXES, prefix])].flatMap((known) => nearness(name, known));
  const [best] = near.toSorted((a, b) => a.distance - b.distance);
  if (!best || (best.rest === '' && best.distance > 0)) return undefined;
  const meant = SESSION_PREFIX + (best.rest || '…');
  return /^\s*[A-Z]/.test(text) ? meant.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase()) : meant;
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
