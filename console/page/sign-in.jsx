/** The first screen: a form for an admin secret, a console secret or a token, with a way around it.
 *  Not here: whether the engine accepts them (use-session.js). */
import { useState } from 'react';
import { KINDS } from './credentials.js';
import { UNAUTHORIZED_ROLE } from './session.js';
import { useTitle } from './use-title.js';

export function SignIn({ tried, problem, onSignIn, onRetry, onWithout }) {
  const [kind, setKind] = useState(tried in KINDS ? tried : 'admin');
  const [secret, setSecret] = useState('');
  useTitle('Sign in');
  const submit = (event) => {
    event.preventDefault();
    if (secret.trim() === '') onRetry();
    else onSignIn({ kind, secret: secretIn(kind, secret) });
  };
  return (
    <main>
      <form className="sign-in" onSubmit={submit}>
        <h1>Pergola</h1>
        <fieldset className="kinds">
          <legend>Sign in with</legend>
          {Object.entries(KINDS).map(([each, { label }]) => (
            <label key={each}>
              <input type="radio" name="kind" checked={kind === each} onChange={() => setKind(each)} />
              {label}
            </label>
          ))}
        </fieldset>
        <label>
          {KINDS[kind].label}
          <input
            type="password"
            autoComplete="off"
            // biome-ignore lint/a11y/noAutofocus: it is what the page is for
            autoFocus
            aria-describedby="what-it-allows"
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </label>
        <p id="what-it-allows" className="faint">
          {ALLOWS[kind]}
        </p>
        <p className="problem" role="alert">
          {problem}
        </p>
        <button type="submit">Sign in</button>
        <button type="button" className="link" onClick={onWithout}>
          Go on without signing in
        </button>
        <p className="faint">
          {UNAUTHORIZED_ROLE
            ? `Without it, requests have the role ${UNAUTHORIZED_ROLE}, or the role of a token in their headers.`
            : 'Without it, only requests with a token in their headers are answered.'}
        </p>
        <p className="faint">
          <code>pergola up</code> prints a link that signs in. What you enter is kept until you sign out or
          close this tab.
        </p>
      </form>
    </main>
  );
}

const ALLOWS = {
  admin: 'Shows everything, and runs operations as any role.',
  console: 'Shows what each role may do, runs queries as any role, and changes nothing.',
  token: 'Shows what your role may do, until the token expires.',
};

/** Returns what was entered without what a copied header has in front of a token. */
function secretIn(kind, text) {
  return kind === 'token' ? text.trim().replace(/^(authorization:\s*)?bearer\s+/i, '') : text.trim();
}
