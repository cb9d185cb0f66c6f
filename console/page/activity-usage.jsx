/** The clients of all replicas, their operations, and the fields that they use. In: `get_field_usage`, which reads the counts in the metadata database.
 *  Not here: counting (engine/usage/). */
import { Grid } from './grid.jsx';
import { Outcome } from './problem.jsx';
import { useAnswer } from './use-answer.js';

/** The filters, by their name in the address and in the operation. */
const FILTERS = { role: 'Role', client: 'Client', coordinate: 'Field' };

const WITHOUT_NAME = 'without a name';

export function Usage({ session, view, setView }) {
  const names = Object.keys(FILTERS).filter((name) => view[name] !== '');
  const filter = Object.fromEntries(names.map((name) => [name, view[name]]));
  const { answer, problem, read } = useAnswer(session, 'get_field_usage', filter);
  return (
    <>
      <Filter view={view} onChange={setView} onRefresh={read} />
      <Outcome answer={answer} problem={problem} />
      {answer && (
        <>
          <p className="faint">{summaryOf(answer)}</p>
          <h2>Operations</h2>
          <Grid
            label="Operations"
            columns={OPERATIONS}
            rows={answer.operations}
            keyOf={keyOfOperation}
            detailsOf={(row) => <FieldsOf operation={row} session={session} />}
          />
          <h2>Fields, arguments and types</h2>
          <Grid
            label="Fields"
            columns={FIELDS}
            rows={answer.coordinates}
            keyOf={keyOfField}
            detailsOf={(row) => <ClientsOf field={row} session={session} />}
          />
        </>
      )}
    </>
  );
}

function Filter({ view, onChange, onRefresh }) {
  const submit = (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    onChange(Object.fromEntries(Object.keys(FILTERS).map((name) => [name, given.get(name).trim()])));
  };
  return (
    <form className="controls" onSubmit={submit}>
      {Object.entries(FILTERS).map(([name, label]) => (
        <label key={name}>
          {label}
          <input
            name={name}
            defaultValue={view[name]}
            placeholder={name === 'coordinate' ? 'author.name' : undefined}
            spellCheck={false}
            autoComplete="off"
          />
        </label>
      ))}
      <button type="submit">Show</button>
      <button type="button" onClick={onRefresh}>
        Refresh
      </button>
    </form>
  );
}

const COUNTS = [
  ['Role', ({ role }) => role],
  ['Requests', ({ requests }) => requests],
  ['Last day', ({ last_day }) => last_day],
];
const OPERATIONS = [
  ['Operation', ({ operation }) => operation ?? WITHOUT_NAME],
  ['Client', ({ client }) => client ?? WITHOUT_NAME],
  ...COUNTS,
];
const FIELDS = [['Field', ({ coordinate }) => coordinate], ...COUNTS];

const keyOfOperation = ({ role, operation, client }) => JSON.stringify([role, operation, client]);
const keyOfField = ({ role, coordinate }) => JSON.stringify([role, coordinate]);

/** The fields, arguments and types that an operation of a client uses. */
function FieldsOf({ operation: { role, operation, client }, session }) {
  const args = { role, operation: operation ?? '', client: client ?? '' };
  const { answer, problem } = useAnswer(session, 'get_field_usage', args);
  return (
    <Details answer={answer} problem={problem} title="Fields, arguments and types of the operation">
      {answer?.coordinates.map((row) => (
        <li key={keyOfField(row)}>
          <code>{row.coordinate}</code>
        </li>
      ))}
    </Details>
  );
}

/** The clients and operations that use a field, an argument or a type. */
function ClientsOf({ field: { role, coordinate }, session }) {
  const { answer, problem } = useAnswer(session, 'get_field_usage', { role, coordinate });
  return (
    <Details answer={answer} problem={problem} title="Clients">
      {answer?.operations.map((row) => (
        <li key={keyOfOperation(row)}>
          {`${row.client ?? `Client ${WITHOUT_NAME}`}: ${row.operation ?? `operation ${WITHOUT_NAME}`} (${row.requests})`}
        </li>
      ))}
    </Details>
  );
}

function Details({ answer, problem, title, children }) {
  return (
    <div className="details">
      <section>
        <h3>{title}</h3>
        <Outcome answer={answer} problem={problem} />
        <ul>{children}</ul>
      </section>
    </div>
  );
}

function summaryOf({ is_counting, days, since, uncounted }) {
  if (!is_counting) return 'The engine does not count what clients use (--field-usage-days).';
  const missing = uncounted.map(
    ({ role, requests }) => `, ${requests} more of ${role} were not counted by name`,
  );
  return since === null
    ? `No request in the last ${days} days.`
    : `Requests of all replicas since ${since}, of the last ${days} days${missing.join('')}. The lists have the entries with most requests.`;
}
