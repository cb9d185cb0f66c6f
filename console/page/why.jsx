/** A form that explains why a role reaches a row of a table, or does not, and whether it may write one. In: `explain_access`, which reads one row on
 *  request and writes nothing; `describe_object` for the key of the table.
 *  Not here: what the role may do in general (access-cell.jsx). */
import { useRef, useState } from 'react';
import { objectIn } from './entry.js';
import { variablesIn } from './headers.js';
import { Outcome } from './problem.jsx';
import { perform } from './requests.js';
import { PREFIX } from './session.js';
import { useAnswer } from './use-answer.js';
import { inWords } from './words.js';

/** The operations, with the fields of each. */
const FIELDS = {
  select: ['key'],
  insert: ['values'],
  update: ['key', 'values'],
  delete: ['key'],
};
const VALUES = '{"name": "value"}';

export function Why({ table: { source, table, select }, role, session }) {
  const [result, setResult] = useState(null);
  const [operation, setOperation] = useState('select');
  // The number of the last explanation: the answer to an earlier one may arrive after it.
  const last = useRef(0);
  const object = ['table', source, table.schema, table.name].map(encodeURIComponent).join('/');
  const { answer, problem } = useAnswer(session, 'describe_object', { key: object });
  if (!answer && !problem) return <Outcome />;
  const key = keyExample(answer?.table);
  const explain = async (event) => {
    event.preventDefault();
    last.current++;
    const turn = last.current;
    const show = (found) => turn === last.current && setResult(found);
    show({ isReading: true });
    try {
      const columns = operation === 'select' ? (select?.masked_columns ?? []) : [];
      const args = {
        ...argumentsIn(new FormData(event.target), key),
        ...(columns.length > 0 && { columns }),
      };
      show({
        answer: await perform(session, 'pg_explain_access', { source, table, role, operation, ...args }),
      });
    } catch ({ message }) {
      show({ problem: message });
    }
  };
  return (
    <section className="why">
      <h2>Why?</h2>
      <form className="controls" onSubmit={explain}>
        <label>
          Operation
          <select name="operation" value={operation} onChange={({ target }) => setOperation(target.value)}>
            {Object.keys(FIELDS).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {FIELDS[operation].includes('key') && <Entry label="Row, by its key" name="key" defaultValue={key} />}
        {FIELDS[operation].includes('values') && (
          <Entry label="Values to write" name="values" placeholder={VALUES} />
        )}
        <Entry label="Session variables" name="variables" placeholder={'{"user-id": "1"}'} />
        <button type="submit">Explain</button>
      </form>
      <div role="status">
        {result?.isReading && 'Reading…'}
        {result?.problem && <p className="problem">{result.problem}</p>}
        {result?.answer && <Verdict answer={result.answer} />}
      </div>
    </section>
  );
}

function Entry({ label, ...rest }) {
  return (
    <label>
      {label}
      <input spellCheck={false} autoComplete="off" {...rest} />
    </label>
  );
}

/** Returns the arguments of `explain_access` that the fields have. Throws what to write in a field that cannot be read. */
function argumentsIn(given, key) {
  const [row, values] = [given.get('key'), given.get('values')];
  return {
    ...(row !== null && { key: objectIn(row, `The key of a row is JSON: ${key}`) }),
    ...(values?.trim() && { values: objectIn(values, `The values to write are JSON: ${VALUES}`) }),
    session_variables: variablesIn(PREFIX, given.get('variables')),
  };
}

/** Returns a key of a row as JSON, with the columns of the primary key. */
function keyExample({ primary_key: names = [], columns = [] } = {}) {
  const members = (names ?? []).map((name) => {
    const isNumber = /^(int|numeric|float)/.test(columns.find((column) => column.name === name)?.type);
    return `${JSON.stringify(name)}: ${isNumber ? '1' : '"1"'}`;
  });
  return members.length === 0 ? '{"id": 1}' : `{${members.join(', ')}}`;
}

function Verdict({ answer: { verdict, reasons, permissions, columns = [], presets = [], notes = [] } }) {
  const namesOf = (wanted) =>
    columns
      .filter((each) => each.verdict === wanted)
      .map(({ column }) => column)
      .join(', ');
  return (
    <>
      <p>
        <strong className={`verdict ${verdict}`}>{verdict.replace('_', ' ')}</strong>
      </p>
      <ul>
        {reasons.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
      {namesOf('masked') && (
        <p>Null in this row, because no parent that reaches it grants them: {namesOf('masked')}.</p>
      )}
      {namesOf('visible') && <p>Not masked in this row: {namesOf('visible')}.</p>}
      {presets.length > 0 && <p>Preset: {presets.map(presetText).join(', ')}.</p>}
      {notes.map((note) => (
        <p key={note} className="faint">
          {note}
        </p>
      ))}
      {permissions.map((permission) => (
        <PermissionClauses key={`${permission.role} ${permission.operation}`} permission={permission} />
      ))}
    </>
  );
}

function presetText({ column, variable, value }) {
  const text = value === null && variable !== undefined ? 'not set' : JSON.stringify(value);
  return variable === undefined ? `${column} = ${text}` : `${column} = ${variable}, which is ${text}`;
}

function PermissionClauses({ permission }) {
  return ['filter', 'check'].map(
    (part) =>
      permission[part] && (
        <div key={part}>
          <h3>
            {part} of {permission.role}
          </h3>
          <ul>
            <ClauseItem clause={permission[part]} />
          </ul>
        </div>
      ),
  );
}

/** A clause with whether it holds, the value of the row, the session variables, and the clauses inside. */
function ClauseItem({ clause }) {
  const { clause: rule, holds, value, variables = [], clauses = [], has_related_row: isReached } = clause;
  const has = value === undefined ? '' : `, the row has ${JSON.stringify(value)}`;
  const found = isReached === false ? ', there is no related row' : has;
  const given = variables.map(({ name, value: text }) => `, ${name} is ${text ?? 'not set'}`);
  return (
    <li>
      <code>{inWords(rule)}</code>: {HOLDS[String(holds)] ?? String(holds)}
      {found}
      {given}
      {clauses.length > 0 && (
        <ul>
          {clauses.map((inner) => (
            <ClauseItem key={JSON.stringify(inner.path)} clause={inner} />
          ))}
        </ul>
      )}
    </li>
  );
}

const HOLDS = { true: 'holds', false: 'does not hold', null: 'is unknown (null)' };
