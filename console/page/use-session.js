/** The session of the user: the credentials, what the engine allows with them, and why it does not. Checked when the user signs in, when a request
 *  is refused, and when a token expires, so that a secret that is replaced leads back to the first screen with a sentence.
 *  Out: `{kind, secret, access, role, problem}`; `access` is `administrator`, `console` or `role`, and empty while the first screen is shown.
 *  `role` is the one of a token that is no administrator's, as the engine says; empty where it does not.
 *  Not here: the requests (requests.js), the screen (sign-in.jsx). */
import { useCallback, useEffect, useRef, useState } from 'react';
import {
  expiryOf,
  isSignedIn,
  KINDS,
  keepCredentials,
  keptCredentials,
  NONE,
  WITHOUT,
} from './credentials.js';
import { accessOf, denials, NO_ANSWER } from './requests.js';
import { KNOWS_NOBODY, keptHeaders } from './session.js';

/** How often a token is checked again that says that it has expired and is still accepted. */
const CHECK_AGAIN_MS = 10_000;
/** The longest time that a timer of browsers can wait. */
const MOST_WAIT_MS = 2 ** 31 - 1;

export function useSession() {
  const [session, setSession] = useState(() => ({ ...keptCredentials(), isChecking: true }));
  const current = useRef(session);
  const show = useCallback((next) => {
    current.current = next;
    setSession(next);
  }, []);
  const check = useCallback(async () => {
    const before = current.current;
    const found = isKnown(before) ? {} : await accessOf(before);
    // Whoever has signed in or out meanwhile is checked separately.
    if (current.current.kind !== before.kind || current.current.secret !== before.secret) return;
    const next = after(current.current, found);
    if (next !== current.current) show(next);
  }, [show]);
  const signIn = (credentials) => {
    keepCredentials(credentials);
    show({ ...credentials, isChecking: true });
    check();
  };
  useEffect(() => {
    check();
    denials.addEventListener('denial', check);
    return () => denials.removeEventListener('denial', check);
  }, [check]);
  useCheckAtExpiry(session, check);
  return { session, signIn, check, goOn: () => signIn(WITHOUT), signOut };
}

/** Returns true when the engine need not be asked: the user has not signed in, and has written no credentials into the editor. */
function isKnown({ kind }) {
  return KNOWS_NOBODY && kind === 'none' && Object.keys(keptHeaders()).length === 0;
}

/** Returns the session after a check; the same when nothing has changed. */
function after(session, { access, role: found = '', denial, isSilent }) {
  const { kind, secret } = session;
  if (isSilent) return session.access ? session : { kind, secret, problem: NO_ANSWER };
  // Without credentials, the first screen is left out only where the engine trusts everyone.
  const isOpen = kind !== 'none' || access === 'administrator';
  const allowed = kind === 'without' ? (access ?? 'role') : isOpen ? access : undefined;
  // Without credentials, the headers of the editor may have a token at any time.
  const role = kind === 'token' ? found : '';
  const isSame = session.access === allowed && session.role === role;
  if (allowed) return isSame ? session : { kind, secret, access: allowed, role };
  // The first screen keeps its sentence.
  if (!isSignedIn(session)) return session.isChecking ? NONE : session;
  keepCredentials(NONE);
  return { ...NONE, tried: kind, problem: sentenceFor(session, denial) };
}

function sentenceFor({ kind, access }, denial) {
  if (kind === 'token' && /JWTExpired/.test(denial)) return 'Your token has expired. Sign in again.';
  const { word } = KINDS[kind];
  if (access) return `The engine no longer accepts this ${word}. Sign in again.`;
  return `The engine does not accept this ${word}${kind === 'token' ? `: ${denial}` : ''}.`;
}

/** Forgets everything that this tab keeps, and the role in its address, which the next user may not have. Loading the page again removes it
 *  from memory, too. */
function signOut() {
  sessionStorage.clear();
  const address = new URL(location.href);
  address.searchParams.delete('role');
  history.replaceState(null, '', address);
  location.reload();
}

function useCheckAtExpiry(session, check) {
  useEffect(() => {
    const expiresAt = session.access ? expiryOf(session) : null;
    if (expiresAt === null) return;
    const look = () => {
      check();
      timer = setTimeout(look, CHECK_AGAIN_MS);
    };
    // A second later, because the engine compares whole seconds.
    const wait = Math.max(expiresAt - Date.now(), 0) + 1000;
    let timer = setTimeout(look, Math.min(wait, MOST_WAIT_MS));
    return () => clearTimeout(timer);
  }, [session, check]);
}
