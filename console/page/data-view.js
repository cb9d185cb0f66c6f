/** The view of the page Data in its address: the table, the row and relationship that lead to others, filters, order and page, and the role that it is of
 *  (view-as.jsx). */
import { useEffect, useState } from 'react';
import { parseWithAllDigits } from './digits.js';
import { isPlainClick } from './plain-click.js';
import { KEYS, ROOT } from './session.js';

/** The view before anything is chosen. */
export const NOTHING = { table: '', through: null, filters: [], order: null, page: 0 };

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
  const part = (name) => {
    try {
      return parseWithAllDigits(given.get(name)) ?? NOTHING[name];
    } catch {
      return NOTHING[name];
    }
  };
  const filters = part('filters');
  const page = Number(given.get('page'));
  return {
    table: given.get('table') ?? '',
    through: part('through'),
    filters: Array.isArray(filters) ? filters : [],
    order: part('order'),
    page: Number.isInteger(page) && page > 0 ? page : 0,
  };
}

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
    setView(next);
  };
  return [view, change];
}
