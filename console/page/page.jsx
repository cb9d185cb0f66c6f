/** The console: a form for the admin secret, then the page that the last segment of the address names. Each page is a file of its own, loaded
 *  when it is opened. Role and admin secret are kept for this tab only (session.js).
 *  Built into dist/console by ../build.ts; nothing is fetched from elsewhere. */
import './page.css';
import { lazy, Suspense, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { isAdmitted } from './requests.js';
import { KEYS, signInByLink, useKept } from './session.js';
import { SignIn } from './sign-in.jsx';

/** The pages, by the last segment of their address. The engine serves the same (engine/http/console.ts). */
const PAGES = {
  '': lazy(() => import('./explore.jsx').then(({ Explore }) => ({ default: Explore }))),
  access: lazy(() => import('./access.jsx').then(({ Access }) => ({ default: Access }))),
};
const Opened = PAGES[location.pathname.split('/').at(-1)] ?? PAGES[''];

function Page() {
  const [secret, keepSecret] = useKept(KEYS.secret);
  const [isWithout, keepWithout] = useKept(KEYS.without);
  const [answer, setAnswer] = useState('checking');
  useEffect(() => {
    setAnswer('checking');
    isAdmitted(secret).then(setAnswer);
  }, [secret]);
  const signOut = () => {
    keepSecret('');
    keepWithout('');
    setAnswer('checking');
    isAdmitted('').then((next) => setAnswer(next === 'admitted' && !secret ? 'denied' : next));
  };
  if (answer === 'admitted' || (answer === 'denied' && isWithout && !secret)) {
    return (
      <Suspense fallback={null}>
        <Opened secret={secret} onSignOut={signOut} />
      </Suspense>
    );
  }
  if (answer === 'checking') return null;
  return (
    <SignIn
      problem={problemOf(answer, secret)}
      onSecret={keepSecret}
      onRetry={() => isAdmitted(secret).then(setAnswer)}
      onWithout={() => {
        keepSecret('');
        keepWithout('yes');
      }}
    />
  );
}

function problemOf(answer, secret) {
  if (answer === 'unreachable') return 'The engine does not answer.';
  return secret ? 'The engine does not accept this admin secret.' : '';
}

signInByLink();
// A link that is opened in this tab does not load the page again.
addEventListener('hashchange', () => signInByLink() && location.reload());
createRoot(document.getElementById('page')).render(<Page />);
