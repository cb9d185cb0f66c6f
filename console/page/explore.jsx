/** The page Explore: GraphiQL against this engine, as a role of one's choice. The role is sent as a header, with the introspection too: the
 *  explorer shows exactly what that role may see. Session variables go into GraphiQL's own headers editor and are kept when the role changes.
 *  Not here: signing in (page.jsx), the requests (requests.js). */
import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import { useGraphiQL } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect, useMemo, useState } from 'react';
import { Bar } from './bar.jsx';
import { exampleFor, warningFor } from './example.js';
import { fetcherFor } from './requests.js';
import { KEYS, PREFIX, storage, UNAUTHORIZED_ROLE, useKept } from './session.js';

/** Takes effect on Enter or on leaving the field, not at each letter. */
function Field({ label, value, onCommit, ...rest }) {
  return (
    <label>
      {label}
      <input
        key={value}
        defaultValue={value}
        autoComplete="off"
        spellCheck={false}
        onBlur={(event) => onCommit(event.target.value.trim())}
        onKeyDown={(event) => event.key === 'Enter' && event.target.blur()}
        {...rest}
      />
    </label>
  );
}

/** Writes an example for the schema into the editor, unless a user has written something there. */
function Example() {
  const { schema, queryEditor } = useGraphiQL(({ schema, queryEditor }) => ({ schema, queryEditor }));
  useEffect(() => {
    if (!schema || !queryEditor) return;
    const written = queryEditor.getValue().trim();
    if (written !== '' && written !== sessionStorage.getItem(KEYS.example)?.trim()) return;
    const example = exampleFor(schema);
    sessionStorage.setItem(KEYS.example, example);
    queryEditor.setValue(example);
  }, [schema, queryEditor]);
  return <span className="hint">Session variables are headers: {`{ "${PREFIX}user-id": "1" }`}</span>;
}

/** Returns the role that applies when the field is empty. */
function roleWithout({ access }) {
  return access === 'administrator' ? 'admin' : UNAUTHORIZED_ROLE || 'the role of your token';
}

function signedOutText(session) {
  if (session.kind !== 'without') return '';
  return UNAUTHORIZED_ROLE
    ? `Signed out: requests without a token have the role ${UNAUTHORIZED_ROLE}.`
    : 'Signed out: a token in the headers says which role applies.';
}

export function Explore({ session, onSignOut }) {
  const [role, keepRole] = useKept(KEYS.role);
  const [problem, setProblem] = useState('');
  const [schema, setSchema] = useState(null);
  const fetcher = useMemo(() => fetcherFor(role, session, setProblem), [role, session]);
  const changeRole = (next) => {
    if (next === role) return;
    setSchema(null);
    keepRole(next);
  };
  return (
    <>
      <Bar session={session} onSignOut={onSignOut}>
        <span className="problem" role="status">
          {problem || signedOutText(session) || (schema && warningFor(schema, role))}
        </span>
        <Field label="Role" value={role} onCommit={changeRole} placeholder={roleWithout(session)} />
      </Bar>
      <GraphiQL
        fetcher={fetcher}
        storage={storage}
        shouldPersistHeaders
        showPersistHeadersSettings={false}
        defaultQuery=""
        onSchemaChange={setSchema}
      >
        <GraphiQL.Footer>
          <Example />
        </GraphiQL.Footer>
      </GraphiQL>
    </>
  );
}
