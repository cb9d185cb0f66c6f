/** The first screen: a form for the admin secret, with a way around it for tokens.
 *  Not here: whether the engine accepts the secret (requests.js). */
import { useState } from 'react';
import { UNAUTHORIZED_ROLE } from './session.js';

export function SignIn({ problem, onSecret, onRetry, onWithout }) {
  const [secret, setSecret] = useState('');
  const submit = (event) => {
    event.preventDefault();
    if (secret.trim() === '') onRetry();
    else onSecret(secret.trim());
  };
  return (
    <form className="sign-in" onSubmit={submit}>
      <h1>Pergola</h1>
      <label>
        Admin secret
        <input
          type="password"
          autoComplete="off"
          // biome-ignore lint/a11y/noAutofocus: it is the only field of the page
          autoFocus
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
        />
      </label>
      <p className="problem" role="alert">
        {problem}
      </p>
      <button type="submit">Sign in</button>
      <button type="button" className="link" onClick={onWithout}>
        Go on without it, with a token in the headers
      </button>
      <p>
        {UNAUTHORIZED_ROLE
          ? `Signed out, requests have the role ${UNAUTHORIZED_ROLE}, or the role of a token in their headers.`
          : 'Signed out, no role applies: only requests with a token in their headers are answered.'}
      </p>
      <p>
        <code>pergola up</code> prints the secret and a link that signs in. The secret is kept until this tab
        is closed.
      </p>
    </form>
  );
}
