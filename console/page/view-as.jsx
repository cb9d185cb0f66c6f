/** Whom the user views as in Explore: a role and session variables, kept for this tab. With a token the engine takes the session variables from
 *  its claims, so that only the role can be chosen.
 *  Out: the headers, and why there are none. Not here: where they are used (explore.jsx). */
import { useEffect, useMemo, useState } from 'react';
import { seesAllRoles } from './bar.jsx';
import { viewAsHeaders } from './headers.js';
import { perform } from './requests.js';
import { KEYS, PREFIX, UNAUTHORIZED_ROLE, useKept } from './session.js';

const ADMIN = 'admin';
export const NO_ROLE = 'No role has a permission yet. With the console secret, operations run as a role.';

/** Returns `{role, variables, roles, headers, problem}` and what changes them. */
export function useViewAs(session) {
  const [role, keepRole] = useKept(KEYS.role);
  const [variables, keepVariables] = useKept(KEYS.variables);
  const roles = useRoles(session);
  const needsRole = session.access === 'console' && (role === '' || role === ADMIN);
  const first = needsRole ? roles?.find((each) => each !== ADMIN) : undefined;
  useEffect(() => {
    if (first !== undefined) keepRole(first);
  });
  const mayChoose = choosesVariables(session);
  const found = useMemo(() => {
    try {
      return { headers: viewAsHeaders(PREFIX, role, mayChoose ? variables : ''), problem: '' };
    } catch ({ message }) {
      return { headers: null, problem: message };
    }
  }, [role, variables, mayChoose]);
  return { role, keepRole, variables, keepVariables, roles, needsRole, ...found };
}

function choosesVariables({ access, kind }) {
  return access === 'console' || (access === 'administrator' && kind !== 'token');
}

/** Returns the roles that the engine knows; none where the session may not know them, null until they are known. */
function useRoles(session) {
  const [roles, setRoles] = useState(null);
  useEffect(() => {
    if (!seesAllRoles(session)) setRoles([]);
    else
      perform(session, 'get_role_access', {}).then(
        (answer) => setRoles(answer.roles.map(({ role }) => role)),
        () => setRoles([]),
      );
  }, [session]);
  return roles;
}

export function ViewAs({ session, viewAs }) {
  const { role, keepRole, variables, keepVariables, roles } = viewAs;
  return (
    <>
      <Field label="Role" value={role} onCommit={keepRole} placeholder={roleWithout(session)} list="roles" />
      <datalist id="roles">
        {roles?.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {choosesVariables(session) && (
        <Field
          label="Session variables"
          value={variables}
          onCommit={keepVariables}
          placeholder={'{"user-id": "1"}'}
        />
      )}
    </>
  );
}

/** Returns the role that applies when the field is empty. */
function roleWithout({ access }) {
  return access === 'administrator' ? ADMIN : UNAUTHORIZED_ROLE || 'the role of your token';
}

/** Takes effect on Enter or on leaving the field, not at each letter. */
function Field({ label, value, onCommit, ...rest }) {
  const commit = (text) => text !== value && onCommit(text);
  return (
    <label>
      {label}
      <input
        key={value}
        defaultValue={value}
        autoComplete="off"
        spellCheck={false}
        onBlur={(event) => commit(event.target.value.trim())}
        onKeyDown={(event) => event.key === 'Enter' && event.target.blur()}
        {...rest}
      />
    </label>
  );
}
