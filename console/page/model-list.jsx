/** The list of objects. Only the rows in sight are elements, so that thousands of tables cost no more than fifty. One row takes the focus; the arrow
 *  keys, Home and End move it. Not here: which rows there are (model-index.js). */
import { useEffect, useRef, useState } from 'react';

const ROW_HEIGHT = 30;
/** The number of rows beyond the edges that are elements, so that scrolling shows no gaps. */
const BEYOND = 12;

export function ObjectList({ rows, current, stateOf, addressOf, onOpen }) {
  const box = useRef(null);
  const { top, height } = useScrolling(box);
  const [active, setActive] = useState(-1);
  const links = rows.flatMap((row, i) => (row.key ? [i] : []));
  const focusable = links.includes(active)
    ? active
    : Math.max(
        rows.findIndex(({ key }) => key === current),
        links[0] ?? 0,
      );
  const first = Math.max(Math.floor(top / ROW_HEIGHT) - BEYOND, 0);
  const last = Math.min(Math.ceil((top + height) / ROW_HEIGHT) + BEYOND, rows.length);
  const shown = rows.slice(first, last).map((row, i) => [first + i, row]);
  if (rows[focusable] && (focusable < first || focusable >= last)) shown.push([focusable, rows[focusable]]);
  useShowing(box, rows, current);
  const move = (event) => {
    const at = links.indexOf(focusable);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (next === undefined || links[next] === undefined) return;
    event.preventDefault();
    setActive(links[next]);
    scrollTo(box.current, links[next]);
    requestAnimationFrame(() => box.current?.querySelector(`[data-row="${links[next]}"]`)?.focus());
  };
  return (
    <div className="rows" ref={box}>
      <ul style={{ height: rows.length * ROW_HEIGHT }} aria-label="Objects">
        {shown.map(([i, row]) => (
          <li
            key={row.key ?? row.title}
            aria-setsize={rows.length}
            aria-posinset={i + 1}
            className="row"
            style={{ top: i * ROW_HEIGHT }}
          >
            {row.key ? (
              <a
                href={addressOf(row.key)}
                data-row={i}
                tabIndex={i === focusable ? 0 : -1}
                aria-current={row.key === current ? 'page' : undefined}
                onKeyDown={move}
                onFocus={() => setActive(i)}
                onClick={(event) => onOpen(event, row.key)}
                title={row.name}
              >
                {row.name}
                {stateOf(row.key) && <span className="bad"> {stateOf(row.key)}</span>}
              </a>
            ) : (
              <strong>
                {row.title} <span className="faint">{row.count}</span>
              </strong>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function useScrolling(box) {
  const [state, setState] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = box.current;
    const look = () => setState({ top: element.scrollTop, height: element.clientHeight });
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      observer.disconnect();
    };
  }, [box]);
  return state;
}

/** Scrolls to the object that is open when the list appears or another one is opened. */
function useShowing(box, rows, current) {
  const all = useRef(rows);
  all.current = rows;
  useEffect(() => {
    const at = all.current.findIndex(({ key }) => key === current);
    if (at >= 0) scrollTo(box.current, at);
  }, [box, current]);
}

function scrollTo(element, row) {
  const top = row * ROW_HEIGHT;
  if (top < element.scrollTop) element.scrollTop = top - ROW_HEIGHT;
  else if (top + ROW_HEIGHT > element.scrollTop + element.clientHeight) {
    element.scrollTop = top + 2 * ROW_HEIGHT - element.clientHeight;
  }
}
