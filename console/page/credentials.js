/** How a user signs in: with an admin secret, a console secret or a token, which are kept for this tab only (sessionStorage), and the headers
 *  that requests have with them.
 *  Not here: whether the engine accepts them (requests.js, use-session.js). */
import { keptHeaders, PREFIX } from './session.js';

/** The kinds of credentials: their name in labels and in sentences, and their header. */
export const KINDS = {
  admin: {
    label: 'Admin secret',
    word: 'admin secret',
    headersOf: (secret) => ({ [`${PREFIX}admin-secret`]: secret }),
  },
  console: {
    label: 'Console secret',
    word: 'console secret',
    headersOf: (secret) => ({ [`${PREFIX}console-secret`]: secret }),
  },
  token: {
    label: 'Token (JWT)',
    word: 'token',
    headersOf: (secret) => ({ authorization: `Bearer ${secret}` }),
  },
};

const KEY = 'pergola-credentials';

/** Of a user who has not signed in. */
export const NONE = { kind: 'none', secret: '' };

/** Of a user who goes on without signing in, with the role of requests without credentials or a token in the headers of the editor. */
export const WITHOUT = { kind: 'without', secret: '' };

/** Returns the credentials of this tab. */
export function keptCredentials() {
  try {
    const { kind, secret } = JSON.parse(sessionStorage.getItem(KEY));
    return { kind, secret };
  } catch {
    return NONE;
  }
}

export function keepCredentials({ kind, secret }) {
  sessionStorage.setItem(KEY, JSON.stringify({ kind, secret }));
}

/** Signs in with a link such as `/#admin-secret=…`, which `pergola up` prints, or `/#console-secret=…`. Browsers do not send the fragment; it is
 *  removed from the address at once. Returns true when the address had a secret. */
export function signInByLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  const kind = ['admin', 'console'].find((each) => given.has(`${each}-secret`));
  if (kind === undefined) return false;
  keepCredentials({ kind, secret: given.get(`${kind}-secret`) });
  history.replaceState(null, '', location.pathname + location.search);
  return true;
}

export function isSignedIn({ kind }) {
  return kind in KINDS;
}

/** Returns the headers that authenticate a request: those of the credentials, or those that the user has written into the editor. */
export function headersOf(session) {
  return isSignedIn(session) ? secretHeadersOf(session) : keptHeaders();
}

/** Returns the headers of the credentials, none for a user who has not signed in. */
export function secretHeadersOf({ kind, secret }) {
  return KINDS[kind]?.headersOf(secret) ?? {};
}

/** Returns when a token expires, in milliseconds since the epoch, as it says itself; null for other credentials. The engine decides. */
export function expiryOf({ kind, secret }) {
  if (kind !== 'token') return null;
  try {
    const { exp } = JSON.parse(atob(secret.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
    return typeof exp === 'number' ? exp * 1000 : null;
  } catch {
    return null;
  }
}
