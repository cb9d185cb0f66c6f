/** Who asks: a role and the session variables that came with it. Made by auth/, read when a statement is bound. */

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
