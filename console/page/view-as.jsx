/** Whom the user views as in Explore and Data: a role and session variables, kept for this tab. The address names the role: a link that names one sets
 *  it, and any other keeps the one of the tab. With a token the engine takes the session variables from its claims, so that only the role can be chosen.
 *  Out: the headers, and why there are none, which is shown at the field. Not here: where they are used (explore.jsx). */
import { useCallback, useEffect, useId, useMemo, useState } from 'react';
import { seesAllRoles } from './bar.jsx';
import { viewAsHeaders } from './headers.js';
import { perform } from './requests.js';
import { KEYS, PREFIX, roleInAddress, UNAUTHORIZED_ROLE, useKept } from './session.js';

const ADMIN = 'admin';
const NO_ROLE = 'No role has a permission yet. With the console secret, operations run as a role.';
const CHOOSE = 'Choose a role: with the console secret, operations run as a role other than admin.';

/** Returns `{role, variables, roles, headers, lastHeaders, problem, problems, note}` and what changes them. `headers` is null while a field is wrong, and
 *  `lastHeaders` are those before; `problems` are those of each field, and `note` is about a role that can be sent. */
export function useViewAs(session) {
  const [role, keepRole] = useRole();
  const [variables, keepVariables] = useKept(KEYS.variables);
  const roles = useRoles(session, role);
  const needsRole = lacksRole(session, role);
  const first = roles?.find((each) => each !== ADMIN);
  // A role that the user has removed does not come back.
  const takesFirst = needsRole && first !== undefined && sessionStorage.getItem(KEYS.role) === null;
  const [taken, setTaken] = useState(null);
  useEffect(() => {
    if (!takesFirst) return;
    keepRole(first);
    setTaken(first);
  });
  const isMissing = needsRole && roles !== null && !takesFirst;
  const need = isMissing ? (first && CHOOSE) || NO_ROLE : '';
  const mayChoose = choosesVariables(session);
  const found = useMemo(() => {
    const applied = mayChoose ? variables : '';
    const problems = { role: problemOf(role, '') || need, variables: problemOf('', applied) };
    const problem = problems.role || problems.variables;
    return { headers: problem || needsRole ? null : viewAsHeaders(PREFIX, role, applied), problem, problems };
  }, [role, variables, mayChoose, needsRole, need]);
  const [lastHeaders, setLastHeaders] = useState(found.headers);
  if (found.headers && found.headers !== lastHeaders) setLastHeaders(found.headers);
  const isUnknown = found.headers && role !== '' && roles?.length > 0 && ![ADMIN, ...roles].includes(role);
  const chooseRole = useCallback(
    (next) => {
      setTaken(null);
      keepRole(next);
    },
    [keepRole],
  );
  const isTaken = taken !== null && taken === role;
  const note =
    (isUnknown && `No permission names the role ${role}.`) ||
    (isTaken && `With the console secret, operations run as a role. ${role} is the first.`) ||
    '';
  return useMemo(
    () => ({ role, chooseRole, variables, keepVariables, roles, note, lastHeaders, ...found }),
    [role, chooseRole, variables, keepVariables, roles, note, lastHeaders, found],
  );
}

/** Returns the role and its setter, which changes the address, too. */
function useRole() {
  useState(() => {
    const named = roleInAddress();
    if (named !== null) sessionStorage.setItem(KEYS.role, named);
  });
  const [role, keepRole] = useKept(KEYS.role, (next) => problemOf(next, '') === '');
  useEffect(() => {
    // A role that cannot be sent is not kept.
    const kept = sessionStorage.getItem(KEYS.role) ?? '';
    const given = new URLSearchParams(location.search);
    if ((given.get('role') ?? '') !== kept) {
      if (kept === '') given.delete('role');
      else given.set('role', kept);
      history.replaceState(null, '', `${location.pathname}${given.size > 0 ? `?${given}` : ''}`);
    }
    const goBack = () => keepRole(roleInAddress() ?? role);
    addEventListener('popstate', goBack);
    return () => removeEventListener('popstate', goBack);
  }, [role, keepRole]);
  return [role, keepRole];
}

/** True when the engine wants a role other than the administrator's, and this is none. */
function lacksRole({ access }, role) {
  return access === 'console' && (role === '' || role === ADMIN);
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

/** Returns the roles that the engine knows, read again with each role: none where the session may not know them, null until they are known. */
function useRoles(session, role) {
  const [roles, setRoles] = useState(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a role may have got its first permission
  useEffect(() => {
    if (!seesAllRoles(session)) setRoles([]);
    else
      perform(session, 'get_role_access', {}).then(
        (answer) => setRoles(answer.roles.map(({ role }) => role)),
        () => setRoles([]),
      );
  }, [session, role]);
  return roles;
}

export function ViewAs({ session, viewAs }) {
  const { role, chooseRole, variables, keepVariables, roles, problems, note } = viewAs;
  return (
    <>
      <Field
        label="Role"
        value={role}
        problem={problems.role}
        note={note}
        onCommit={chooseRole}
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
export function roleWithout({ access, kind, role }) {
  if (access === 'administrator') return ADMIN;
  return role || (kind !== 'token' && UNAUTHORIZED_ROLE) || 'the role of your token';
}

/** Takes effect on Enter or on leaving the field, not at each letter. */
function Field({ label, value, problem, note = '', onCommit, ...rest }) {
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
        {problem || note}
      </span>
    </>
  );
}
