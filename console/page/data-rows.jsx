/** A page of rows as a table: columns that order it, and links to the rows that relationships lead to. All values are text. */
import { useState } from 'react';
import { cellText } from './data-export.js';
import { isNumber } from './digits.js';

export function Rows({ rows, masked, columns, relationships, order, onOrder, linkTo }) {
  return (
    <>
      {/* Scrolls sideways in narrow windows, by keyboard too. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable */}
      <section className="scrolls" aria-label="Rows" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map(({ name, type, directions }) => (
                <th key={name} scope="col" aria-sort={sortOf(order, name)}>
                  {onOrder && directions ? (
                    <button
                      type="button"
                      className="order"
                      onClick={() => onOrder(name)}
                      title={`${type}: order by it`}
                    >
                      {name} {{ asc: '↑', desc: '↓' }[order?.column === name ? order.direction : '']}
                    </button>
                  ) : (
                    name
                  )}
                </th>
              ))}
              {relationships.map(({ name }) => (
                <th key={`to ${name}`} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows need not have a key
              <tr key={at}>
                {columns.map(({ name }) => (
                  <Cell key={name} value={row[name]} isMasked={masked.includes(name)} />
                ))}
                {relationships.map((relationship) => (
                  <td key={`to ${relationship.name}`}>
                    <a {...linkTo(row, relationship)}>
                      {relationship.isList ? 'rows' : 'row'}
                      <span className="unseen"> of {relationship.name}</span>
                    </a>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

/** A null of a column that is masked in some rows may hide a value. */
function Cell({ value, isMasked }) {
  if (value === null || value === undefined)
    return <td className="faint">{isMasked ? 'null or masked' : 'null'}</td>;
  return (
    <td className={isNumber(value) ? 'number' : undefined}>
      <CellText text={cellText(value)} />
    </td>
  );
}

/** The texts that may have more lines than a cell shows. */
const LONG = 80;
/** The most characters that a cell shows at first, and on request: a browser takes minutes to lay out megabytes of text. */
const SHOWN = 1_000;
const SHOWN_WHOLE = 100_000;

/** A text, whose end is shown on request when it is long. */
function CellText({ text }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > LONG || text.includes('\n');
  const most = isWhole ? SHOWN_WHOLE : SHOWN;
  return (
    <>
      <div
        className={isWhole ? 'cell whole' : 'cell'}
        // What scrolls must be reachable by keyboard.
        tabIndex={isWhole ? 0 : undefined}
      >
        {text.slice(0, most)}
        {text.length > most && '…'}
      </div>
      {isWhole && text.length > most && (
        <p className="faint">
          {`The first ${most.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters. An export has all.`}
        </p>
      )}
      {isLong && (
        <button
          type="button"
          className="whole-text"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'Less' : 'More'}
        </button>
      )}
    </>
  );
}

function sortOf(order, name) {
  if (order?.column !== name) return undefined;
  return order.direction === 'asc' ? 'ascending' : 'descending';
}
