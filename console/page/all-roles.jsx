/** A page about all roles: the bar, a title, and what the session may see of it. Not here: which sessions see all roles (bar.jsx). */
import { Bar, seesAllRoles } from './bar.jsx';
import { ROOT } from './session.js';

export function AllRolesPage({ session, onSignOut, title, className = 'access', children }) {
  return (
    <>
      <Bar session={session} onSignOut={onSignOut} />
      <main className={className}>
        <h1>{title}</h1>
        {seesAllRoles(session) ? children : <ForAllRoles />}
      </main>
    </>
  );
}

/** The text of such a page for a session of one role. */
export function ForAllRoles() {
  return (
    <p>
      This page is for administrators and the console secret. <a href={ROOT.pathname}>Explore</a> shows what
      your role may do.
    </p>
  );
}
