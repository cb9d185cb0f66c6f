/** The page Access: what a role may do with each table, in words, beside what another role may do, and what tests it. Role, other role, search and the table
 *  that is opened are in the address, so that a link leads to the same view. In: `get_role_access` and `get_permission_tests`; they run no statement in a source.
 *  Not here: one cell (access-cell.jsx), one row of a table (why.jsx). */
import { useState } from 'react';
import { AccessDetails, CellSummary } from './access-cell.jsx';
import { accessDifferences, isGranted } from './access-differences.js';
import { RoleList } from './access-roles.jsx';
import { CellTests, TestsSummary } from './access-tests.jsx';
import { AllRolesPage } from './all-roles.jsx';
import { UNAUTHORIZED_ROLE } from './session.js';
import { testsOfCell } from './test-words.js';
import { useAnswer } from './use-answer.js';
import { useTitle } from './use-title.js';
import { useView } from './use-view.js';

const PARAMETERS = ['role', 'compare', 'table', 'only', 'opened'];
const OPERATIONS = ['select', 'insert', 'update', 'delete'];
/** The most rows at first; more follow on request, so that the page answers at once with thousands of tables. */
const MOST_ROWS = 100;

export function Access({ session, onSignOut }) {
  return (
    <AllRolesPage session={session} onSignOut={onSignOut} title="Access">
      <RoleAccess session={session} />
    </AllRolesPage>
  );
}

function RoleAccess({ session }) {
  const [view, setView] = useView(PARAMETERS, ['table']);
  useTitle(view.role);
  const own = useAnswer(session, 'get_role_access', view.role === '' ? {} : { role: view.role });
  const compared = view.compare === '' ? null : { role: view.compare };
  const other = useAnswer(session, 'get_role_access', compared);
  const tests = useAnswer(session, 'get_permission_tests', view.role === '' ? {} : { role: view.role });
  const problem = own.problem || other.problem || tests.problem;
  const roles = own.answer?.roles ?? [];
  const isMissing = (name) => name !== '' && !roles.some(({ role }) => role === name);
  const inherits = roles.find(({ role }) => role === view.role)?.inherits_from ?? [];
  return (
    <>
      <form className="controls" onSubmit={(event) => event.preventDefault()}>
        <RoleField label="Role" roles={roles} value={view.role} onChange={(role) => setView({ role })} />
        <RoleField
          label="Compare with"
          roles={roles}
          value={view.compare}
          onChange={(compare) => setView({ compare })}
        />
        <label>
          Find a table
          <input
            type="search"
            value={view.table}
            onChange={(event) => setView({ table: event.target.value })}
          />
        </label>
        {view.role !== '' && <OnlyField view={view} setView={setView} />}
      </form>
      <p role="status">
        {problem && <span className="problem">{problem}</span>}
        {own.answer && isMissing(view.role) && `No permission names the role ${view.role}. `}
        {own.answer && isMissing(view.compare) && `No permission names the role ${view.compare}. `}
        {inherits.length > 0 && `${view.role} inherits from ${inherits.join(', ')}. `}
        {view.role !== '' &&
          view.role === UNAUTHORIZED_ROLE &&
          'Requests without credentials have this role.'}
        {!own.answer && !problem && 'Reading…'}
        {view.role === '' && own.answer && !problem && 'Choose a role to see what it may do with each table.'}
      </p>
      {view.role === '' && <RoleList roles={roles} onOpen={(role) => setView({ role })} />}
      {tests.answer && <TestsSummary answer={tests.answer} />}
      {own.answer?.tables && (
        <Tables
          {...{ view, setView, session }}
          tables={own.answer.tables}
          others={other.answer?.tables}
          tests={tests.answer?.tests.length > 0 ? tests.answer : undefined}
        />
      )}
    </>
  );
}

/** Leaves out the tables on which two roles do not differ, or on which the only role has no permission. */
function OnlyField({ view: { only, compare }, setView }) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={only !== ''}
        onChange={({ target }) => setView({ only: target.checked ? 'yes' : '' })}
      />
      {compare === '' ? 'Only tables with a permission' : 'Only differences'}
    </label>
  );
}

function RoleField({ label, roles, value, onChange }) {
  const isUnknown = value !== '' && !roles.some(({ role }) => role === value);
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">–</option>
        {isUnknown && <option>{value}</option>}
        {roles.map(({ role }) => (
          <option key={role}>{role}</option>
        ))}
      </select>
    </label>
  );
}

function Tables({ view, setView, tables, others, tests, session }) {
  const [shown, setShown] = useState(MOST_ROWS);
  const found = tables
    .map((table, i) => ({ table, other: others?.[i], name: nameOf(table) }))
    .filter(({ name }) => name.toLowerCase().includes(view.table.toLowerCase()))
    .filter((row) => view.only === '' || isOfInterest(row));
  const isShown = ({ name }, at) => at < shown || name === view.opened;
  return (
    <>
      {/* Scrolls sideways in narrow windows, by keyboard too. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable */}
      <section className="scrolls" aria-label="Tables" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Table</th>
              {OPERATIONS.map((operation) => (
                <th key={operation} scope="col">
                  {operation}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.filter(isShown).map(({ table, other, name }) => (
              <TableRow
                key={name}
                {...{ table, other, name, tests, view, session }}
                isOpen={view.opened === name}
                onToggle={() => setView({ opened: view.opened === name ? '' : name })}
              />
            ))}
          </tbody>
        </table>
      </section>
      {found.length === 0 && <p>{nothingFound(tables, view)}</p>}
      {found.length > shown && (
        <button type="button" onClick={() => setShown(shown + MOST_ROWS * 5)}>
          Show more of {found.length} tables
        </button>
      )}
    </>
  );
}

/** Returns true for a table on which two roles differ, or on which the only role has a permission. */
function isOfInterest({ table, other }) {
  return OPERATIONS.some((operation) =>
    other ? accessDifferences(table[operation], other[operation]).length > 0 : isGranted(table[operation]),
  );
}

function nothingFound(tables, { only, compare, role }) {
  if (tables.length === 0) return 'No source has a tracked table.';
  if (only === '') return 'No table has this name.';
  return compare === ''
    ? `${role} has no permission on such a table.`
    : 'The roles do not differ on such a table.';
}

function TableRow({ table, other, name, tests, view, session, isOpen, onToggle }) {
  const isOfRoles = view.role !== 'admin' && view.compare !== 'admin';
  const testsOf = (operation) => {
    const cell = table[operation];
    return tests && cell?.is_allowed && cell.grants.length > 0 && testsOfCell(tests, table, operation, cell);
  };
  return (
    <>
      <tr>
        <th scope="row">
          <button type="button" className="link" aria-expanded={isOpen} onClick={onToggle}>
            {name}
          </button>
          {table.not_enforced && <div className="problem">{table.not_enforced}.</div>}
        </th>
        {OPERATIONS.map((operation) => {
          const tested = testsOf(operation);
          const differences =
            other === undefined ? [] : accessDifferences(table[operation], other[operation]);
          const differs = differences.length > 0;
          return (
            <td key={operation} className={differs ? 'differs' : undefined}>
              <CellSummary cell={table[operation]} isAdmin={view.role === 'admin'} />
              {tested && <CellTests tests={tested} />}
              {differs && (
                <div className="other">
                  {view.compare}: <CellSummary cell={other[operation]} isAdmin={view.compare === 'admin'} />
                  {isOfRoles &&
                    isGranted(table[operation]) &&
                    isGranted(other[operation]) &&
                    ` (other ${differences.join(', ')})`}
                </div>
              )}
            </td>
          );
        })}
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={OPERATIONS.length + 1}>
            <AccessDetails
              {...{ table, other, session, testsOf }}
              role={view.role}
              compare={view.compare}
              operations={OPERATIONS}
            />
          </td>
        </tr>
      )}
    </>
  );
}

function nameOf({ source, table: { schema, name } }) {
  const prefix = source === 'default' ? '' : `${source}: `;
  return `${prefix}${schema === 'public' ? '' : `${schema}.`}${name}`;
}
