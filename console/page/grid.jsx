/** A table of a page, which scrolls sideways in narrow windows, by keyboard too. In: `columns`, each `[title, cell of a row]`; the first cell is the
 *  header of its row. `detailsOf`, if given, returns what a row shows when it is opened. `opened` and `onOpen` keep the key of the open row elsewhere.
 *  More than `most` rows are shown on request, so that the page answers at once. */
import { useState } from 'react';

const MOST_ROWS = 100;

export function Grid({ rows, empty = 'None.', most = MOST_ROWS, ...rest }) {
  const [more, setMore] = useState(0);
  const shown = most + more;
  if (rows.length === 0) return <p>{empty}</p>;
  return (
    <>
      <Table rows={rows.slice(0, shown)} {...rest} />
      {rows.length > shown && (
        <button type="button" className="more" onClick={() => setMore(more + MOST_ROWS)}>
          Show more of {rows.length}
        </button>
      )}
    </>
  );
}

function Table({ label, columns, rows, keyOf, detailsOf, ...rest }) {
  const [own, setOwn] = useState(null);
  const { opened = own, onOpen = setOwn } = rest;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable
    <section className="scrolls" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(([title]) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            const toggle = () => onOpen(opened === key ? null : key);
            return (
              <Row key={key} {...{ row, columns, detailsOf, toggle }} isOpen={detailsOf && opened === key} />
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function Row({ row, columns: [[, first], ...others], detailsOf, isOpen, toggle }) {
  return (
    <>
      <tr>
        <th scope="row">
          {detailsOf ? (
            <button type="button" className="link" aria-expanded={isOpen} onClick={toggle}>
              {first(row)}
            </button>
          ) : (
            first(row)
          )}
        </th>
        {others.map(([title, cell]) => (
          <td key={title}>{cell(row)}</td>
        ))}
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={others.length + 1}>{detailsOf(row)}</td>
        </tr>
      )}
    </>
  );
}
