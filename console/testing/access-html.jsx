/** The cells and details of the page Access as HTML, without a browser. */
import { renderToStaticMarkup } from 'react-dom/server';
import { AccessDetails, CellSummary } from '../page/access-cell.jsx';

export function summaryHtml(cell, isAdmin) {
  return renderToStaticMarkup(<CellSummary cell={cell} isAdmin={isAdmin} />);
}

export function detailsHtml(table, role, operation) {
  return renderToStaticMarkup(
    <AccessDetails
      table={table}
      role={role}
      operations={[operation]}
      testsOf={() => undefined}
      session={{}}
    />,
  );
}
