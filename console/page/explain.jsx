/** The pane that explains the operation in the editor: its SQL and plan as the role runs it, and the time of the last run. Each is shown only while
 *  the operation and the headers are those that it is of. In: `POST /v1/graphql/explain`, which runs nothing but EXPLAIN. */
import { useContext, useState } from 'react';
import { ExploreContext, useEditorContents } from './editor.js';
import { userOf } from './headers.js';
import { operationKey, operationOf } from './operation.js';
import { PaneIcon } from './pane-icon.jsx';
import { explain } from './requests.js';
import { useLastRun } from './runs.jsx';
import { Scrolling } from './scrolling.jsx';
import { PREFIX } from './session.js';

export const EXPLAIN_PANE = {
  title: 'Explain',
  icon: Icon,
  content: Pane,
};

function Icon() {
  return <PaneIcon path="M4 5h16M4 12h10M4 19h7M17 14v6m-3-3h6" />;
}

function Pane() {
  const { session, viewAs } = useContext(ExploreContext);
  const { operation, headers } = useEditorContents();
  const [result, setResult] = useState(null);
  const run = useLastRun();
  const user = headers && userOf(PREFIX, headers);
  const key = keyOf(operation, headers);
  const shown = result?.key === key ? result : null;
  const tookMs = run && keyOf(run.question, run.headers) === key ? run.tookMs : undefined;
  const request = async () => {
    try {
      setResult({ key, fields: await explain(session, operationOf(operation).question, user) });
    } catch ({ message }) {
      setResult({ key, problem: message });
    }
  };
  return (
    <div className="pane">
      <h2>Explain</h2>
      {user && <p>As {user[`${PREFIX}role`] ?? 'admin'}, with the same session variables. Nothing is run.</p>}
      <button type="button" onClick={request} disabled={headers === null}>
        Explain the operation
      </button>
      {headers === null && <p className="problem">{viewAs.problem || 'The headers are no JSON.'}</p>}
      {tookMs !== undefined && (
        <p className="time">The last run took {tookMs} ms, from the request of this browser to the answer.</p>
      )}
      <div role="status">
        {shown?.problem && <p className="problem">{shown.problem}</p>}
        {shown?.fields?.map((field, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is replaced as a whole
          <Field key={i} {...field} />
        ))}
      </div>
    </div>
  );
}

/** Returns a text that is the same for the same operation with the same variables and headers. */
function keyOf(operation, headers) {
  return operationKey(operation) + JSON.stringify(headers);
}

function Field({ field, sql, plan }) {
  return (
    <>
      {field && <h3>{field}</h3>}
      {sql === null && <p>No statement.</p>}
      {plan && <Text label="Plan" text={plan.join('\n')} isAligned />}
      {sql && <Text label="SQL" text={sql} />}
    </>
  );
}

function Text({ label, text, isAligned }) {
  return (
    <>
      <h4>{label}</h4>
      <Scrolling label={label} text={text} isAligned={isAligned} />
    </>
  );
}
