/** The last run of each tab of Explore: what it was requested with, and how long it took. A run ends when its tab, the role or a header changes, and a result
 *  with other headers than those of the next run says so.
 *  Not here: sending (fetcher.js), what is in the editors (editor.js). */
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { MOST_BATCHES } from './batches.js';
import { ExploreContext, useEditorContents } from './editor.js';
import { userOf } from './headers.js';
import { PREFIX } from './session.js';
import { roleWithout } from './view-as.jsx';

/** Returns `{runs, tab, onRun}`: the runs by their tab, a reference to the tab that is open, and a function that records its run (fetcher.js). */
export function useRuns() {
  const [runs, setRuns] = useState({});
  const tab = useRef('');
  const onRun = useCallback((run) => setRuns((before) => ({ ...before, [tab.current]: run })), []);
  return useMemo(() => ({ runs, tab, onRun }), [runs, onRun]);
}

/** Returns the last run of the tab that is open; null when there is none. */
export function useLastRun() {
  const { runs } = useContext(ExploreContext).runs;
  const id = useGraphiQL(({ tabs, activeTabIndex }) => tabs[activeTabIndex].id);
  return runs[id] ?? null;
}

/** Ends runs, and says below a result what it is. GraphiQL renders it once, beside the result. */
export function RunNote() {
  const { session, viewAs, runs } = useContext(ExploreContext);
  const { stop } = useGraphiQLActions();
  const { id, hasResult } = useGraphiQL(({ tabs, activeTabIndex, fetchError }) => ({
    id: tabs[activeTabIndex].id,
    // A failed introspection replaces the result.
    hasResult: Boolean(tabs[activeTabIndex].response) && !fetchError,
  }));
  const run = useLastRun();
  const sentNow = JSON.stringify(useEditorContents().headers);
  useEffect(() => {
    runs.tab.current = id;
  }, [runs.tab, id]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever runs was requested with the headers before, or in another tab
  useEffect(() => stop, [stop, id, sentNow]);
  const isOther = run !== null && JSON.stringify(run.headers) !== sentNow;
  return (
    <div role="status" className="run-note">
      {hasResult && isOther && (
        <p className="problem">
          Result for {userText(run.headers, session)}. Run the operation again
          {viewAs.problem ? '.' : ' for the current role and headers.'}
        </p>
      )}
      {run?.isStopped && <p>Stopped before the answer came.</p>}
      {hasResult && run?.batches > 1 && <p>{batchesText(run.batches)}</p>}
    </div>
  );
}

/** Returns the role of headers and their session variables. */
function userText(headers, session) {
  const { [`${PREFIX}role`]: role = roleWithout(session), ...variables } = userOf(PREFIX, headers);
  const named = Object.entries(variables).map(([name, value]) => [name.slice(PREFIX.length), value]);
  return named.length === 0 ? role : `${role} with ${JSON.stringify(Object.fromEntries(named))}`;
}

function batchesText(count) {
  if (count <= MOST_BATCHES) return `${count} batches, newest first.`;
  return `The last ${MOST_BATCHES} of ${count} batches, newest first.`;
}
