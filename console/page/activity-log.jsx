/** A log that is read on request, a page at a time: what is chosen, a button that reads, and a list whose entries open.
 *  Not here: which logs there are (activity-logs.jsx). */
import { useEffect, useState } from 'react';
import { dayAndTime } from './chart.jsx';
import { parseWithAllDigits } from './digits.js';
import { Grid } from './grid.jsx';
import { Outcome } from './problem.jsx';
import { Scrolling } from './scrolling.jsx';

const PAGE = 50;

/** `all` is the text of the choice of everything; without it, a choice is needed, and `kind` is the kind of resource that declares what can be chosen. `read` resolves to the entries of a page. */
export function Log({ session, triggers, label, kind, all, options, chosen, status, statuses, ...rest }) {
  const { onChoose, setView, read, columns, detailsOf, anyState = 'every state' } = rest;
  const { rows, problem, isReading, isWhole, start, more } = usePages(read, `${chosen} ${status}`);
  const [note, setNote] = useState('');
  const readAgain = (said) => {
    start();
    setNote(said);
  };
  if (session.access !== 'administrator') {
    return (
      <p>
        Entries hold rows and messages, so they are for administrators. {label}s:{' '}
        {options.map(([, text]) => text).join(', ') || 'none'}.
      </p>
    );
  }
  const isUnknown = chosen !== '' && triggers.answer && !options.some(([each]) => each === chosen);
  const unknown =
    (isUnknown && `There is no ${label.toLowerCase()} ${printedChoice(chosen)}.`) ||
    (status !== '' && !statuses.includes(status) && `There is no state ${status}.`);
  if (kind && triggers.answer && options.length === 0 && chosen === '')
    return <NothingToChoose label={label} kind={kind} />;
  return (
    <>
      <form
        className="controls"
        onSubmit={(event) => {
          event.preventDefault();
          readAgain('');
        }}
      >
        <Choice label={label} value={chosen} none={all ?? '–'} options={options} onChange={onChoose} />
        <Choice
          label="State"
          value={status}
          none={anyState}
          options={statuses.map((each) => [each, each])}
          onChange={(next) => setView({ status: next })}
        />
        <button type="submit" disabled={isReading || (chosen === '' && all === undefined)}>
          Read the log
        </button>
      </form>
      <State
        isReading={isReading}
        problem={problem || triggers.problem || (rows === null && unknown)}
        note={rows === null ? NOT_YET : note}
      />
      {rows !== null && (
        <Grid
          label="Log"
          columns={columns}
          rows={rows}
          most={rows.length}
          keyOf={({ id }) => id}
          detailsOf={(row) => detailsOf(row, readAgain)}
          empty="The log has no such entry."
        />
      )}
      {rows !== null && !isWhole && (
        <button type="button" className="more" disabled={isReading} onClick={more}>
          Read older entries
        </button>
      )}
    </>
  );
}

function Choice({ label, value, none, options, onChange }) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{none}</option>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Returns the names in the value of a choice, which may be a list as JSON. */
function printedChoice(value) {
  return value.startsWith('[') ? parseWithAllDigits(value).join(' ') : value;
}

function State({ isReading, problem, note }) {
  return (
    <p role="status" className={!isReading && problem ? 'problem' : undefined}>
      {isReading ? 'Reading…' : problem || note}
    </p>
  );
}

function NothingToChoose({ label, kind }) {
  return (
    <p>
      The metadata has no {label.toLowerCase()}. <a href={`change?kind=${kind}`}>Change</a> has a form for
      one.
    </p>
  );
}

const NOT_YET = 'Nothing is read until you press the button. It reads 50 entries, newest first.';

/** Returns the entries read so far. Another choice forgets them. */
function usePages(read, choice) {
  const [state, setState] = useState(NOTHING);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice is what the effect is for
  useEffect(() => setState(NOTHING), [choice]);
  const readFrom = (before) => {
    setState((now) => ({ ...now, isReading: true }));
    read({ limit: PAGE, offset: before.length }).then(
      (rows) =>
        setState({ rows: [...before, ...rows], problem: '', isReading: false, isWhole: rows.length < PAGE }),
      ({ message }) => setState((now) => ({ ...now, isReading: false, problem: message })),
    );
  };
  return { ...state, start: () => readFrom([]), more: () => readFrom(state.rows) };
}

const NOTHING = { rows: null, problem: '', isReading: false, isWhole: true };

/** The attempts to deliver an event: each request and its response. */
export function Attempts({ invocations, problem }) {
  return (
    <section className="wide">
      <h2>Attempts</h2>
      <Outcome answer={invocations} problem={problem} />
      {invocations?.length === 0 && <p>None yet.</p>}
      {invocations?.map(({ id, created_at, status, request, response }, i) => (
        <div key={id} className="attempt">
          <h3>
            {dayAndTime(created_at)}: {status === null ? 'no response' : `status ${status}`}
          </h3>
          <Json label={`Request ${i + 1}`} value={request} />
          <Json label={`Response ${i + 1}`} value={response} />
        </div>
      ))}
    </section>
  );
}

export function Json({ label, value }) {
  return <Scrolling label={label} text={JSON.stringify(value ?? null, null, 2)} />;
}
