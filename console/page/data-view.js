/** The view of the page Data in its address: the table, the row and relationship that lead to others, filters, order and page, and the role that it is of
 *  (view-as.jsx). */
import { useEffect, useState } from 'react';
import { parseWithAllDigits } from './digits.js';
import { isPlainClick } from './plain-click.js';
import { KEYS, ROOT } from './session.js';

/** The view before anything is chosen. `unread` are the parts of an address that cannot be read, such as those of a link that was cut. */
export const NOTHING = { table: '', through: null, filters: [], order: null, page: 0, unread: [] };

/** Returns the properties of a link to a view, which does not load the page again. */
export function linkTo(view, setView) {
  return {
    href: addressOf(view),
    onClick: (event) => {
      if (!isPlainClick(event)) return;
      event.preventDefault();
      setView(view);
    },
  };
}

function addressOf({ table, through, filters, order, page }) {
  const role = sessionStorage.getItem(KEYS.role);
  const given = new URLSearchParams({
    ...(table && { table }),
    ...(role && { role }),
    ...(through && { through: JSON.stringify(through) }),
    ...(filters.length > 0 && { filters: JSON.stringify(filters) }),
    ...(order && { order: JSON.stringify(order) }),
    ...(page > 0 && { page: String(page) }),
  });
  return `${new URL('data', ROOT).pathname}?${given}`;
}

function viewIn(search) {
  const given = new URLSearchParams(search);
  const unread = [];
  const part = (name, isValid) => {
    const text = given.get(name);
    if (text === null) return NOTHING[name];
    try {
      const value = parseWithAllDigits(text);
      if (isValid(value)) return value;
    } catch {
      // As any other value that the page cannot read.
    }
    unread.push(name);
    return NOTHING[name];
  };
  return {
    table: given.get('table') ?? '',
    through: part('through', ({ field, key }) => typeof field === 'string' && typeof key === 'object'),
    filters: part('filters', areFilters),
    order: part('order', ({ column }) => typeof column === 'string'),
    page: part('page', (page) => Number.isInteger(page) && page > 0),
    unread,
  };
}

function areFilters(value) {
  const isFilter = (each) => FILTER_PARTS.every((name) => typeof each?.[name] === 'string');
  return Array.isArray(value) && value.every(isFilter);
}

const FILTER_PARTS = ['column', 'operator', 'text'];

/** Returns what the address says, and a function that goes to another view, from which the browser goes back. */
export function useView() {
  const [view, setView] = useState(() => viewIn(location.search));
  useEffect(() => {
    const goBack = () => setView(viewIn(location.search));
    addEventListener('popstate', goBack);
    return () => removeEventListener('popstate', goBack);
  }, []);
  const change = (next) => {
    history.pushState(null, '', addressOf(next));
    setView({ ...next, unread: [] });
  };
  return [view, change];
}
