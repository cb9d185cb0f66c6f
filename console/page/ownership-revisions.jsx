/** The stored versions of the metadata: who wrote each, with what, and what changed; going back to one in an editable console.
 *  In: `list_metadata_revisions`, `compare_metadata_revisions`; `rollback_metadata`, which is for administrators.
 *  Not here: an object that changed (object-change.jsx). */
import { useRef, useState } from 'react';
import { dayAndTime } from './chart.jsx';
import { Grid } from './grid.jsx';
import { managerIn } from './managed-by.js';
import { ObjectChange } from './object-change.jsx';
import { Outcome } from './problem.jsx';
import { perform } from './requests.js';
import { IS_READ_ONLY } from './session.js';
import { useAnswer } from './use-answer.js';

export function Revisions({ session, view, setView }) {
  const { answer: revisions, problem, read } = useAnswer(session, 'list_metadata_revisions');
  const heading = useRef(null);
  if (!revisions) return <Outcome problem={problem} />;
  if (revisions.length < 2) return <p>The engine has no earlier version (--metadata-revisions).</p>;
  const to = numberOf(view.to) ?? revisions[0].resource_version;
  const from = numberOf(view.from) ?? revisions[1].resource_version;
  const choose = (name) => (event) => setView({ [name]: event.target.value });
  const show = (chosen) => {
    setView(chosen);
    // The difference is below all versions.
    heading.current.focus();
    heading.current.scrollIntoView();
  };
  return (
    <>
      <Grid
        label="Versions"
        rows={revisions}
        keyOf={({ resource_version }) => resource_version}
        columns={columnsFor(revisions, show)}
      />
      <h2 ref={heading} tabIndex={-1}>
        What changed
      </h2>
      <form className="controls" onSubmit={(event) => event.preventDefault()}>
        <VersionField label="From" revisions={revisions} value={from} onChange={choose('from')} />
        <VersionField label="To" revisions={revisions} value={to} onChange={choose('to')} />
      </form>
      <Comparison key={`${from} ${to}`} session={session} from={from} to={to} />
      {!IS_READ_ONLY && session.access === 'administrator' && (
        <RollBack
          key={from}
          session={session}
          version={from}
          current={revisions[0].resource_version}
          onDone={() => {
            setView({ from: '', to: '' });
            read();
          }}
        />
      )}
    </>
  );
}

function columnsFor(revisions, show) {
  const before = (version) =>
    revisions.find(({ resource_version }) => resource_version < version)?.resource_version;
  return [
    ['Version', ({ resource_version: version }) => version],
    ['Written', ({ written_at }) => dayAndTime(written_at)],
    ['By', ({ author }) => author],
    ['With', ({ client }) => (client?.startsWith('Mozilla/') ? 'a browser' : (client ?? '–'))],
    ['Operations', ({ operations }) => operations.join(', ') || '–'],
    [
      'Difference',
      ({ resource_version: to }) =>
        before(to) === undefined ? (
          '–'
        ) : (
          <button
            type="button"
            aria-label={`Show what changed with version ${to}`}
            onClick={() => show({ from: String(before(to)), to: String(to) })}
          >
            Show
          </button>
        ),
    ],
  ];
}

function numberOf(text) {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

function VersionField({ label, revisions, value, onChange }) {
  const isUnknown = !revisions.some(({ resource_version }) => resource_version === value);
  return (
    <label>
      {label}
      <select value={value} onChange={onChange}>
        {isUnknown && <option>{value}</option>}
        {revisions.map(({ resource_version, written_at }) => (
          <option key={resource_version} value={resource_version}>
            {resource_version} ({dayAndTime(written_at)})
          </option>
        ))}
      </select>
    </label>
  );
}

/** The most objects that are listed at first, so that the page answers at once after a change of the whole document. */
const MOST_CHANGES = 25;

function Comparison({ session, from, to }) {
  const { answer, problem } = useAnswer(session, 'compare_metadata_revisions', { from, to });
  const [shown, setShown] = useState(MOST_CHANGES);
  if (!answer || problem) return <Outcome answer={answer} problem={problem} />;
  if (answer.count === 0) return <p role="status">Both versions have the same objects.</p>;
  return (
    <>
      <p role="status">
        {answer.count === 1 ? 'One object differs.' : `${answer.count} objects differ.`}
        {answer.count > answer.changes.length && ` The first ${answer.changes.length} are listed.`}
      </p>
      {answer.changes.slice(0, shown).map((change) => (
        <ObjectChange key={change.key} of={change} />
      ))}
      {answer.changes.length > shown && (
        <button type="button" className="more" onClick={() => setShown(shown + MOST_CHANGES)}>
          Show more of {answer.changes.length}
        </button>
      )}
    </>
  );
}

/** Goes back to a version in two steps: what that changes now and what the engine says about it, then the change. */
function RollBack({ session, version, current, onDone }) {
  const [report, setReport] = useState(null);
  const [problem, setProblem] = useState('');
  const { answer: states } = useAnswer(session, 'get_catalog_state', { type: 'operator' });
  const isManaged = states !== null && managerIn(states).isOperator;
  /** `read` is the version of the metadata that was checked. */
  const send = (more, then, read) =>
    perform(session, 'rollback_metadata', { resource_version: version, ...more }, read).then(
      (answer) => {
        setProblem('');
        then(answer);
      },
      ({ message, code }) => {
        const hasChanged = read !== undefined && code === 'conflict';
        if (hasChanged) setReport(null);
        setProblem(hasChanged ? 'The metadata has changed since. Check it again.' : message);
      },
    );
  return (
    <section className="roll-back">
      <h2>Go back to version {version}</h2>
      <p className="faint">
        {isManaged
          ? 'An operator manages this engine and would put its objects back: go back to earlier files of the resources.'
          : 'The document of this version becomes a new version.'}
      </p>
      {report === null && states !== null && !isManaged && (
        <button type="button" onClick={() => send({ dry_run: true, include_changes: true }, setReport)}>
          Check
        </button>
      )}
      {report !== null && (
        <>
          <h3>What going back changes now</h3>
          <Comparison session={session} from={current} to={version} />
          <Inconsistent objects={report.inconsistent_objects} />
          <button
            type="button"
            onClick={() =>
              send({ allow_inconsistent_metadata: !report.is_consistent }, onDone, report.resource_version)
            }
          >
            {report.is_consistent ? 'Go back now' : 'Go back without them'}
          </button>
        </>
      )}
      <p role="alert" className="problem">
        {problem}
      </p>
    </section>
  );
}

function Inconsistent({ objects }) {
  if (objects.length === 0) return <p>Every object would be consistent.</p>;
  return (
    <>
      <p>These objects would be inconsistent, and not served:</p>
      <ul>
        {objects.map(({ key, name, reason }) => (
          <li key={key ?? name}>
            {name}: {reason}
          </li>
        ))}
      </ul>
    </>
  );
}
