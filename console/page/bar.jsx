/** The bar above every page: links to the pages that the session may see, what the page adds, and the button that signs out. */
import { isSignedIn } from './credentials.js';
import { PATH, ROOT } from './session.js';
import { useTitle } from './use-title.js';

const LINKS = [
  ['./', 'Explore'],
  ['access', 'Access'],
  ['model', 'Model'],
  ['data', 'Data'],
  ['ownership', 'Ownership'],
  ['activity', 'Activity'],
  ['change', 'Change'],
];
/** The pages that a session of one role may see. */
const FOR_A_ROLE = ['./', 'data'];

/** Returns true when the session may see the pages about all roles. */
export function seesAllRoles({ access }) {
  return access !== 'role';
}

export function Bar({ session, onSignOut, children }) {
  const here = PATH.split('/', 1)[0] || './';
  useTitle(LINKS.find(([address]) => address === here)?.[1]);
  const links = LINKS.filter(([address]) => FOR_A_ROLE.includes(address) || seesAllRoles(session));
  return (
    <header className="bar">
      <strong>Pergola</strong>
      <nav aria-label="Pages">
        {links.map(([address, name]) => (
          <a
            key={name}
            href={new URL(address, ROOT).pathname}
            aria-current={address === here ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {children}
      <span className="leave">
        {/* The role of the field beside it may be another one that the token allows. */}
        <span className="who">{session.role ? `Token of ${session.role}` : WHO[session.access]}</span>
        {session.kind !== 'none' && (
          <button type="button" onClick={onSignOut}>
            {isSignedIn(session) ? 'Sign out' : 'Sign in'}
          </button>
        )}
      </span>
    </header>
  );
}

const WHO = { administrator: 'Administrator', console: 'Console secret', role: 'One role' };
