/** A form that explains why a role reaches a row of a table, or does not. In: `explain_access`, which reads one row on request.
 *  Not here: what the role may do in general (access-cell.jsx). */
import { useState } from 'react';
import { objectIn } from './entry.js';
import { variablesIn } from './headers.js';
import { perform } from './requests.js';
import { PREFIX } from './session.js';
import { inWords } from './words.js';

const OPERATIONS = ['select', 'update', 'delete'];

export function Why({ table: { source, table }, role, session }) {
  const [result, setResult] = useState(null);
  const explain = async (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    try {
      const args = {
        ...{ source, table, role, operation: given.get('operation') },
        key: objectIn(given.get('key'), 'The key of a row is JSON: {"id": 1}'),
        session_variables: variablesIn(PREFIX, given.get('variables')),
      };
      setResult({ answer: await perform(session, 'pg_explain_access', args) });
    } catch ({ message }) {
      setResult({ problem: message });
    }
  };
  return (
    <section className="why">
      <h2>Why?</h2>
      <form className="controls" onSubmit={explain}>
        <label>
          Operation
          <select name="operation">
            {OPERATIONS.map((operation) => (
              <option key={operation}>{operation}</option>
            ))}
          </select>
        </label>
        <label>
          Row, by its key
          <input name="key" defaultValue={'{"id": 1}'} spellCheck={false} autoComplete="off" />
        </label>
        <label>
          Session variables
          <input name="variables" placeholder={'{"user-id": "1"}'} spellCheck={false} autoComplete="off" />
        </label>
        <button type="submit">Explain</button>
      </form>
      <div role="status">
        {result?.problem && <p className="problem">{result.problem}</p>}
        {result?.answer && <Verdict answer={result.answer} />}
      </div>
    </section>
  );
}

function Verdict({ answer: { verdict, reasons, permissions } }) {
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
      {permissions.map((permission) => (
        <PermissionClauses key={`${permission.role} ${permission.operation}`} permission={permission} />
      ))}
    </>
  );
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
function ClauseItem({ clause: { clause, holds, value, variables = [], clauses = [] } }) {
  const found = value === undefined ? '' : `, the row has ${JSON.stringify(value)}`;
  const given = variables.map(({ name, value: text }) => `, ${name} is ${text ?? 'not set'}`);
  return (
    <li>
      <code>{inWords(clause)}</code>: {HOLDS[String(holds)] ?? String(holds)}
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
