/** Whom the user views as in Explore: a role and session variables, kept for this tab. With a token the engine takes the session variables from
 *  its claims, so that only the role can be chosen.
 *  Out: the headers, and why there are none, which is shown at the field. Not here: where they are used (explore.jsx). */
import { useEffect, useId, useMemo, useState } from 'react';
import { seesAllRoles } from './bar.jsx';
import { viewAsHeaders } from './headers.js';
import { perform } from './requests.js';
import { KEYS, PREFIX, UNAUTHORIZED_ROLE, useKept } from './session.js';

const ADMIN = 'admin';
export const NO_ROLE = 'No role has a permission yet. With the console secret, operations run as a role.';

/** Returns `{role, variables, roles, headers, lastHeaders, problem, problems}` and what changes them. `headers` is null while a field is wrong, which is not
 *  kept, and `lastHeaders` are those before; `problems` are those of each field. */
export function useViewAs(session) {
  const [role, keepRole] = useKept(KEYS.role, (next) => problemOf(next, '') === '');
  const [variables, keepVariables] = useKept(KEYS.variables, (next) => problemOf('', next) === '');
  const roles = useRoles(session);
  const needsRole = session.access === 'console' && (role === '' || role === ADMIN);
  const first = needsRole ? roles?.find((each) => each !== ADMIN) : undefined;
  useEffect(() => {
    if (first !== undefined) keepRole(first);
  });
  const mayChoose = choosesVariables(session);
  const found = useMemo(() => {
    const applied = mayChoose ? variables : '';
    const problems = { role: problemOf(role, ''), variables: problemOf('', applied) };
    const problem = problems.role || problems.variables;
    return { headers: problem ? null : viewAsHeaders(PREFIX, role, applied), problem, problems };
  }, [role, variables, mayChoose]);
  const [lastHeaders, setLastHeaders] = useState(found.headers);
  if (found.headers && found.headers !== lastHeaders) setLastHeaders(found.headers);
  return useMemo(
    () => ({ role, keepRole, variables, keepVariables, roles, needsRole, lastHeaders, ...found }),
    [role, keepRole, variables, keepVariables, roles, needsRole, lastHeaders, found],
  );
}

/** Returns why a role and session variables cannot be sent; empty when they can. */
function problemOf(role, variables) {
  try {
    viewAsHeaders(PREFIX, role, variables);
    return '';
  } catch ({ message }) {
    return message;
  }
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
  const { role, keepRole, variables, keepVariables, roles, problems } = viewAs;
  const isUnknown = roles?.length > 0 && role !== '' && role !== ADMIN && !roles.includes(role);
  return (
    <>
      <Field
        label="Role"
        value={role}
        problem={problems.role || (isUnknown ? `No permission names the role ${role}.` : '')}
        onCommit={keepRole}
        placeholder={roleWithout(session)}
        list="roles"
      />
      <datalist id="roles">
        {roles?.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {choosesVariables(session) && (
        <Field
          label="Session variables"
          value={variables}
          problem={problems.variables}
          onCommit={keepVariables}
          placeholder={'{"user-id": "1"}'}
        />
      )}
    </>
  );
}

/** Returns the role that applies when the field is empty. */
export function roleWithout({ access }) {
  return access === 'administrator' ? ADMIN : UNAUTHORIZED_ROLE || 'the role of your token';
}

/** Takes effect on Enter or on leaving the field, not at each letter. */
function Field({ label, value, problem, onCommit, ...rest }) {
  const id = useId();
  const commit = (text) => text !== value && onCommit(text);
  return (
    <>
      <label>
        {label}
        <input
          key={value}
          defaultValue={value}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={problem !== ''}
          aria-describedby={id}
          onBlur={(event) => commit(event.target.value.trim())}
          onKeyDown={(event) => event.key === 'Enter' && event.target.blur()}
          {...rest}
        />
      </label>
      <span id={id} className="problem" role="alert">
        {problem}
      </span>
    </>
  );
}
