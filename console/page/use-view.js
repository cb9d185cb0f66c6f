/** The view of a page: what its address says after `?`, so that a link leads to the same view. Not here: the pages. */
import { useState } from 'react';

/** Returns the parameters of the address with these names, empty where it has none, and a function that changes some of them. */
export function useView(names) {
  const [view, setView] = useState(() => {
    const given = new URLSearchParams(location.search);
    return Object.fromEntries(names.map((name) => [name, given.get(name) ?? '']));
  });
  const change = (part) => {
    const next = { ...view, ...part };
    const given = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== ''));
    history.replaceState(null, '', `?${given}`);
    setView(next);
  };
  return [view, change];
}
