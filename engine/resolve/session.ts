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

/** Whether a metadata string is a session variable (`X-Engine-User-Id`), in any case. */
export function isSessionVariable(text: string): boolean {
  return (
    text.length > SESSION_PREFIX.length &&
    text.slice(0, SESSION_PREFIX.length).toLowerCase() === SESSION_PREFIX
  );
}
