/** The page Explore: GraphiQL against this engine, as a role of one's choice with its session variables. Both are sent as headers, with the
 *  introspection too: the documentation shows exactly what that role may see. Panes beside the editor build the operation, explain it, write code for it
 *  and save it as a resource.
 *  Not here: signing in (page.jsx), the requests (fetcher.js), the headers (headers.js), what a result is of (runs.jsx). */
import './editor-workers.js';
import 'graphiql/style.css';
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Bar, seesAllRoles } from './bar.jsx';
import { BUILDER_PANE } from './builder-pane.jsx';
import { CODE_PANE } from './code-pane.jsx';
import { COLLECTION_PANE } from './collection-pane.jsx';
import { useFocusAfterDialogs } from './dialogs.js';
import { DOCS_PANE } from './docs-pane.jsx';
import { ExploreContext } from './editor.js';
import { useEditorKeys } from './editor-keys.js';
import { useEditorStart } from './editor-start.js';
import { exampleFor, warningFor } from './example.js';
import { EXPLAIN_PANE } from './explain.jsx';
import { fetcherFor } from './fetcher.js';
import { RunNote, useRuns } from './runs.jsx';
import { KEYS, keepTabs, storage, UNAUTHORIZED_ROLE } from './session.js';
import { useViewAs, ViewAs } from './view-as.jsx';

/** The panes of sessions that see all roles, and of those of one role: SQL is not for them. */
const PANES_OF_ROLE = [BUILDER_PANE, HISTORY_PLUGIN, CODE_PANE, COLLECTION_PANE];
const ALL_PANES = PANES_OF_ROLE.toSpliced(2, 0, EXPLAIN_PANE);

/** Writes an example for the schema into the editor, unless a user has written something there. */
function Example() {
  const { schema, queryEditor } = useGraphiQL(({ schema, queryEditor }) => ({ schema, queryEditor }));
  useEffect(() => {
    if (!schema || !queryEditor) return;
    const written = queryEditor.getValue().trim();
    if (written !== '' && written !== localStorage.getItem(KEYS.example)?.trim()) return;
    const example = exampleFor(schema);
    localStorage.setItem(KEYS.example, example);
    queryEditor.setValue(example);
  }, [schema, queryEditor]);
  return null;
}

/** Applies the colours of the editors again when those of the system change: GraphiQL reads them once. */
function SystemColours() {
  const { setTheme } = useGraphiQLActions();
  useEffect(() => {
    const isDark = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setTheme(null);
    isDark.addEventListener('change', change);
    return () => isDark.removeEventListener('change', change);
  }, [setTheme]);
  return null;
}

function signedOutText(session) {
  if (session.kind !== 'without') return '';
  return UNAUTHORIZED_ROLE
    ? `Signed out: requests without a token have the role ${UNAUTHORIZED_ROLE}.`
    : 'Signed out: a token in the headers says which role applies.';
}

export function Explore({ session, onSignOut }) {
  const viewAs = useViewAs(session);
  const isReady = useEditorStart();
  const [problem, setProblem] = useState('');
  const [schema, setSchema] = useState(null);
  const runs = useRuns();
  const { onRun } = runs;
  const [visited, setVisited] = useState([]);
  const { lastHeaders, role } = viewAs;
  const refusal = useRef('');
  useEffect(() => {
    refusal.current = viewAs.problem;
  }, [viewAs.problem]);
  const fetcher = useMemo(() => {
    const receivers = { onProblem: setProblem, onRun, refusal: () => refusal.current };
    return lastHeaders && fetcherFor(lastHeaders, session, receivers);
  }, [lastHeaders, session, onRun]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the schema is that of the role before
  useEffect(() => setSchema(null), [lastHeaders]);
  useFocusAfterDialogs();
  useEditorKeys();
  const shared = useMemo(
    () => ({ session, viewAs, runs, docs: { visited, setVisited } }),
    [session, viewAs, runs, visited],
  );
  return (
    <ExploreContext value={shared}>
      <Bar session={session} onSignOut={onSignOut}>
        <span className="problem" role="status">
          {problem || signedOutText(session) || (schema && !viewAs.note && warningFor(schema, role))}
        </span>
        <ViewAs session={session} viewAs={viewAs} />
      </Bar>
      {!fetcher || !isReady ? (
        <main className="empty">
          <p>{viewAs.problem}</p>
        </main>
      ) : (
        <main className="explore">
          <h1 className="for-readers">Explore</h1>
          <GraphiQL
            fetcher={fetcher}
            storage={storage}
            shouldPersistHeaders
            showPersistHeadersSettings={false}
            defaultQuery=""
            plugins={seesAllRoles(session) ? ALL_PANES : PANES_OF_ROLE}
            referencePlugin={DOCS_PANE}
            onSchemaChange={setSchema}
            onTabChange={keepTabs}
            // The other pages follow the system, too.
            forcedTheme="system"
            dangerouslyAssumeSchemaIsValid
          >
            {/* Its own is a link to another site. */}
            <GraphiQL.Logo>{null}</GraphiQL.Logo>
            <GraphiQL.Footer>
              <RunNote />
              <Example />
              <SystemColours />
            </GraphiQL.Footer>
          </GraphiQL>
        </main>
      )}
    </ExploreContext>
  );
}
