/** The page Data: rows of a table as a role sees them, read only. Columns, filters and relationships are those of the GraphQL schema of the role, and a page is
 *  one GraphQL query with at most 50 rows, which is never counted. The view is in the address.
 *  Not here: the schema (data-schema.js), the query (data-query.js), the table (data-rows.jsx). */
import './data.css';
import { useEffect, useMemo, useState } from 'react';
import { Bar } from './bar.jsx';
import { Exports } from './data-exports.jsx';
import { Filters } from './data-filters.jsx';
import { PAGE_ROWS, pageRowsOf, problemOf, rowsQuery } from './data-query.js';
import { Rows } from './data-rows.jsx';
import { COLUMNS_QUERY, columnsIn, inOrder, namespacesQuery, TABLES_QUERY, tablesIn } from './data-schema.js';
import { linkTo, NOTHING, useView } from './data-view.js';
import { useQuery } from './use-query.js';
import { useReadAccess } from './use-read-access.js';
import { useTitle } from './use-title.js';
import { useViewAs, ViewAs } from './view-as.jsx';

export function Data({ session, onSignOut }) {
  const viewAs = useViewAs(session);
  // Tables and columns may have been granted or revoked since the last run.
  const [runs, setRuns] = useState(0);
  return (
    <>
      <Bar session={session} onSignOut={onSignOut}>
        <ViewAs session={session} viewAs={viewAs} />
      </Bar>
      <main className="access data">
        <h1>Data</h1>
        {viewAs.headers && (
          <Tables
            key={runs}
            session={session}
            headers={viewAs.headers}
            role={viewAs.role}
            onRunAgain={() => setRuns(runs + 1)}
          />
        )}
        <p>{viewAs.problem}</p>
      </main>
    </>
  );
}

function Tables({ session, headers, role, onRunAgain }) {
  const [view, setView] = useView();
  const { tables, isKnown, problem } = useTables(session, headers);
  const table = tables.find(({ title }) => title === view.table);
  const [followed, setFollowed] = useState(null);
  // The rows are those of the table that a relationship leads to.
  const shown = view.through ? (ownTable(tables, followed)?.title ?? '') : view.table;
  useTitle(view.through ? `${view.table} → ${view.through.field}` : view.table);
  return (
    <>
      <form className="controls" onSubmit={(event) => event.preventDefault()}>
        <label>
          Table
          <select value={shown} onChange={(event) => setView({ ...NOTHING, table: event.target.value })}>
            <option value="">–</option>
            {shown !== '' && !table && <option>{view.table}</option>}
            {tables.map(({ title }) => (
              <option key={title}>{title}</option>
            ))}
          </select>
        </label>
      </form>
      <p role="status">
        {problem && <span className="problem">{problem}</span>}
        {view.unread.length > 0 &&
          `The link is not whole: it says ${view.unread.join(' and ')}, which cannot be read. `}
        {isKnown && tables.length === 0 && 'The role can list no table. '}
        {isKnown &&
          view.table !== '' &&
          !table &&
          `The role cannot list ${view.table}, or there is no such table.`}
        {isKnown &&
          view.table === '' &&
          tables.length > 0 &&
          'Choose a table to see its rows as the role sees them.'}
      </p>
      {problem && !table && <RunAgain onRunAgain={onRunAgain} />}
      {table && (
        <Target
          key={table.title}
          onFollowed={setFollowed}
          {...{ session, headers, role, table, tables, view, setView, onRunAgain }}
        />
      )}
    </>
  );
}

function RunAgain({ onRunAgain }) {
  return (
    <button type="button" onClick={onRunAgain}>
      Run again
    </button>
  );
}

const TABLES = JSON.stringify({ query: TABLES_QUERY });

/** Returns the tables that the role can list, `isKnown` once they are all known, and why some are not. */
function useTables(session, headers) {
  const root = useQuery(session, headers, TABLES);
  const question = useMemo(() => root.data && namespacesQuery(root.data), [root.data]);
  const namespaces = useQuery(session, headers, question && JSON.stringify(question));
  const tables = useMemo(
    () => (root.data ? tablesIn(root.data, namespaces.data) : []),
    [root.data, namespaces.data],
  );
  const isKnown = root.data !== null && !namespaces.isRunning;
  return { tables, isKnown, problem: root.problem || namespaces.problem };
}

/** The rows of the table, or of what a relationship of one of its rows leads to. */
function Target({ session, headers, role, table, tables, view, setView, onRunAgain, onFollowed }) {
  const source = useColumns(session, headers, view.through ? table : null);
  const field = view.through && source.columns?.relationships.find(({ name }) => name === view.through.field);
  const target = view.through ? field : table;
  useEffect(() => onFollowed(field || null), [field, onFollowed]);
  const { columns, problem } = useColumns(session, headers, target);
  const access = useReadAccess(session, role, target);
  const isMissing = view.through && source.columns && (!field || !table.byKey);
  return (
    <>
      {view.through && (
        <p>
          <a {...linkTo({ ...NOTHING, table: table.title }, setView)}>{table.title}</a>{' '}
          {JSON.stringify(view.through.key)} → {view.through.field}
        </p>
      )}
      {(problem || source.problem || isMissing) && (
        <p>
          <span className="problem">
            {problem || source.problem || `The role cannot follow ${view.through.field}.`}
          </span>{' '}
          <RunAgain onRunAgain={onRunAgain} />
        </p>
      )}
      {columns && target && access && (
        <Page
          key={JSON.stringify(view.through)}
          {...{ session, headers, table, tables, target, view, setView, onRunAgain, ...access, ...columns }}
        />
      )}
    </>
  );
}

/** Returns the table, with the field of one row by its key, that has the rows of a field. */
function ownTable(tables, field) {
  return tables.find(({ rowType, byKey }) => rowType === field?.rowType && byKey);
}

/** Returns the columns and relationships of a field with rows, once they are known. */
function useColumns(session, headers, field) {
  const { rowType, whereType = rowType, orderType = rowType } = field || {};
  const variables = { row: rowType, where: whereType, order: orderType };
  const question = field ? JSON.stringify({ query: COLUMNS_QUERY, variables }) : null;
  const { data, problem } = useQuery(session, headers, question);
  const columns = useMemo(() => (data ? columnsIn(data) : undefined), [data]);
  return { columns, problem };
}

function Page({ session, headers, table, tables, target, view, setView, onRunAgain, ...given }) {
  const { masked, fields, relationships, limit } = given;
  const pageRows = pageRowsOf(limit);
  const { filters, order, page } = view;
  const own = ownTable(tables, target);
  const keys = [...(own?.byKey.args.keys() ?? [])];
  const columns = inOrder(given.columns, fields.length > 0 ? fields : keys);
  const through = view.through && { ...view.through, byKey: table.byKey, field: target };
  const { question, rowsIn } = rowsQuery({ table, columns, keys, through, filters, order, page, pageRows });
  // All rows would not be what the link is about.
  const isCut = view.unread.includes('filters');
  const refusal = isCut ? 'The filters of the link cannot be read.' : problemOf(filters, columns);
  const text = refusal ? null : JSON.stringify(question);
  const { data, isRunning, tookMs, cancel, ...failed } = useQuery(session, headers, text);
  const problem = refusal || failed.problem;
  const rows = data ? rowsIn(data) : [];
  const names = columns.map(({ name }) => name);
  // A row is found again by its key, which the role must be able to read.
  const isKnown = own && keys.every((name) => names.includes(name));
  const orderBy = (column) => setView({ ...view, page: 0, order: nextOrder(order, column) });
  const viewOf = (row, { name }) => {
    const key = Object.fromEntries(keys.map((each) => [each, row[each]]));
    return { ...NOTHING, table: own.title, through: { key, field: name } };
  };
  return (
    <>
      {target.isList && (
        <Filters
          columns={columns}
          filters={filters}
          onChange={(next) => setView({ ...view, page: 0, filters: next })}
        />
      )}
      <div className="actions">
        <Run {...{ isRunning, problem, cancel, onRunAgain }}>
          {data && statusOf(rows, page, { tookMs, limit, isList: target.isList })}
        </Run>
        {target.isList && (
          <Paging
            page={page}
            isLast={rows.length < pageRows}
            onPage={(next) => setView({ ...view, page: next })}
          />
        )}
        {!refusal && <Exports {...{ session, headers, question, names, rows }} name={target.title} />}
      </div>
      {target.isList && isPaged(rows, page, pageRows) && keys.length === 0 && !order && (
        <p>The role cannot find a row by its key. Without an order, pages may repeat rows: choose one.</p>
      )}
      {masked.length > 0 && (
        <p>The role sees {masked.join(', ')} in some rows only. In others they are masked: null.</p>
      )}
      {data && rows.length > 0 && (
        <Rows
          rows={rows}
          masked={masked}
          columns={columns}
          relationships={isKnown ? relationships : []}
          order={order}
          onOrder={target.orderArgument && orderBy}
          linkTo={(row, relationship) => linkTo(viewOf(row, relationship), setView)}
        />
      )}
    </>
  );
}

/** The state of the query, and the button that ends it or sends it again. */
function Run({ isRunning, problem, cancel, onRunAgain, children }) {
  return (
    <>
      <span role="status" className={!isRunning && problem ? 'problem' : undefined}>
        {isRunning ? 'Running…' : problem || children}
      </span>
      <button type="button" onClick={isRunning ? cancel : onRunAgain}>
        {isRunning ? 'Cancel' : 'Run again'}
      </button>
    </>
  );
}

/** Whether there are more rows is known from a full page alone: nothing is counted. */
function Paging({ page, isLast, onPage }) {
  return (
    <>
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <button type="button" disabled={isLast} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </>
  );
}

/** True when there is, or may be, another page. */
function isPaged(rows, page, pageRows) {
  return page > 0 || rows.length === pageRows;
}

function statusOf(rows, page, { tookMs, limit, isList }) {
  if (rows.length === 0) return page === 0 ? `No rows (${tookMs} ms).` : `No more rows (${tookMs} ms).`;
  const first = page * pageRowsOf(limit) + 1;
  return `Rows ${first}–${first + rows.length - 1} (${tookMs} ms)${isList ? limitText(limit, rows.length) : ''}`;
}

/** Returns what a limit of the role has to do with the number of rows. */
function limitText(limit, count) {
  if (limit === undefined)
    return count < PAGE_ROWS ? ': all, or as many as the role gets in one request' : '';
  return limit !== null && limit < PAGE_ROWS ? `: the role gets at most ${limit} in one request` : '';
}

function nextOrder(order, column) {
  if (order?.column !== column) return { column, direction: 'asc' };
  return order.direction === 'asc' ? { column, direction: 'desc' } : null;
}
