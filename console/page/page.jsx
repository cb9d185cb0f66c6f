/** The console: the first screen (sign-in.jsx), then the page that the first segment of the address names. Each page is a file of its own, loaded
 *  when it is opened. What a user enters is kept for this tab only (credentials.js, session.js).
 *  Built into dist/console by ../build.ts; nothing is fetched from elsewhere. */
import './page.css';
import { lazy, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { signInByLink } from './credentials.js';
import { Missing } from './missing.jsx';
import { PATH } from './session.js';
import { SignIn } from './sign-in.jsx';
import { useSession } from './use-session.js';

/** The pages, by the first segment of their address. The engine serves the same (engine/http/console.ts). */
const PAGES = {
  '': lazy(() => import('./explore.jsx').then(({ Explore }) => ({ default: Explore }))),
  change: lazy(() => import('./change.jsx').then(({ Change }) => ({ default: Change }))),
  access: lazy(() => import('./access.jsx').then(({ Access }) => ({ default: Access }))),
  model: lazy(() => import('./model.jsx').then(({ Model }) => ({ default: Model }))),
  data: lazy(() => import('./data.jsx').then(({ Data }) => ({ default: Data }))),
  ownership: lazy(() => import('./ownership.jsx').then(({ Ownership }) => ({ default: Ownership }))),
  activity: lazy(() => import('./activity.jsx').then(({ Activity }) => ({ default: Activity }))),
};
const Opened = PAGES[PATH.split('/', 1)[0]] ?? Missing;

function Page() {
  const { session, signIn, check, goOn, signOut } = useSession();
  if (session.isChecking) return null;
  if (session.access) {
    return (
      <Suspense fallback={null}>
        <Opened session={session} onSignOut={signOut} />
      </Suspense>
    );
  }
  return (
    <SignIn
      tried={session.tried}
      problem={session.problem}
      onSignIn={signIn}
      onRetry={check}
      onWithout={goOn}
    />
  );
}

signInByLink();
// A link that is opened in this tab does not load the page again.
addEventListener('hashchange', () => signInByLink() && location.reload());
createRoot(document.getElementById('page')).render(<Page />);
