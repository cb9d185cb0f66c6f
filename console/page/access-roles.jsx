/** The roles on the page Access before one is chosen, each with a link to what it may do and the roles that it inherits from. In: `get_role_access`.
 *  Not here: what a role may do (access.jsx). */
import { isPlainClick } from './plain-click.js';

export function RoleList({ roles, onOpen }) {
  return (
    <ul aria-label="Roles" className="roles">
      {roles.map(({ role, inherits_from: parents = [] }) => (
        <li key={role}>
          <a
            href={`?${new URLSearchParams({ role })}`}
            onClick={(event) => {
              if (!isPlainClick(event)) return;
              event.preventDefault();
              onOpen(role);
            }}
          >
            {role}
          </a>
          {parents.length > 0 && <span className="faint"> inherits from {parents.join(', ')}</span>}
        </li>
      ))}
    </ul>
  );
}
