/** What a role may do with a table by one operation: a summary for a cell, and the details: columns, conditions in words, and the roles
 *  that they come from. In: an entry of `get_role_access`.
 *  Not here: the words (words.js). */
import { TestLine } from './access-tests.jsx';
import { Why } from './why.jsx';
import { inWords } from './words.js';

export function CellSummary({ cell, isAdmin }) {
  if (!cell?.is_allowed) return <span className="none">{cell ? 'refused' : 'no'}</span>;
  if (isAdmin) return <span className="yes">everything</span>;
  const parts = [
    cell.columns && counted(cell.columns.length, 'column'),
    cell.every_row ? 'every row' : 'some rows',
    cell.backend_only && 'backend only',
    cell.masked_fields?.length > 0 && `${cell.masked_fields.length} masked`,
  ];
  return <span className="yes">{parts.filter(Boolean).join(', ')}</span>;
}

/** `other` is the entry of the role `compare`, if there is one. */
export function AccessDetails({ table, role, other, compare, operations, testsOf, session }) {
  return (
    <div className="details">
      {operations.map((operation) => (
        <section key={operation}>
          <h2>{operation}</h2>
          {other && <h3>{role}</h3>}
          <OperationDetails cell={table[operation]} role={role} />
          {testsOf(operation) && <TestLines tests={testsOf(operation)} />}
          {other && (
            <>
              <h3>{compare}</h3>
              <OperationDetails cell={other[operation]} role={compare} />
            </>
          )}
        </section>
      ))}
      <Why table={table} role={role} session={session} />
    </div>
  );
}

/** Returns the masked columns, and then the masked computed fields, which follow the names of the columns among the fields. */
function maskedIn({ masked_columns: columns, masked_fields: fields = [] }) {
  return columns?.concat(fields.slice(columns.length));
}

function OperationDetails({ cell, role }) {
  if (!cell) return <p>No permission.</p>;
  if (!cell.is_allowed) return <p>{cell.reason}</p>;
  const facts = [
    ['Columns', cell.columns?.join(', ')],
    ['Null in some rows', maskedIn(cell)?.join(', ')],
    ['Computed fields', cell.computed_fields?.join(', ')],
    ['Rows at most', cell.limit],
    ['Aggregations', cell.allow_aggregations && 'yes'],
    ['Root fields', cell.query_root_fields && (cell.query_root_fields.join(', ') || 'none')],
    ['Backend only', cell.backend_only && 'yes'],
  ];
  return (
    <dl>
      {facts.map(([name, text]) => text && <Fact key={name} {...{ name, text }} />)}
      {cell.grants.map((grant) => (
        <Grant key={grant.role} grant={grant} isInherited={grant.role !== role} />
      ))}
    </dl>
  );
}

function TestLines({ tests }) {
  if (tests.length === 0) return <p className="faint">No test.</p>;
  return (
    <ul aria-label="Tests">
      {tests.map((test) => (
        <li key={test.resource}>
          <TestLine test={test} />
        </li>
      ))}
    </ul>
  );
}

/** A permission: its conditions, and its role when that is another one. */
function Grant({ grant: { role, permission, is_consistent }, isInherited }) {
  const from = isInherited ? ` (from ${role})` : '';
  if (!is_consistent) return <Fact name={`Without effect${from}`} text="The permission is inconsistent." />;
  const { filter, check, set = {} } = permission;
  const presets = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
  return (
    <>
      {filter !== undefined && <Fact name={`Rows${from}`} text={inWords(filter)} />}
      {check && <Fact name={`Written rows must satisfy${from}`} text={inWords(check)} />}
      {presets.length > 0 && <Fact name={`Set by the engine${from}`} text={presets.join(', ')} />}
    </>
  );
}

function Fact({ name, text }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}

function counted(count, word) {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
