/** The view of a page: what its address says after `?`, so that a link leads to the same view, and the browser goes back to the one before. Not here: the
 *  pages. */
import { useEffect, useState } from 'react';

/** Returns the parameters of the address with these names, empty where it has none, and a function that changes some of them. The browser goes back over
 *  each change, except changes of the `typed` ones: letters are no steps. */
export function useView(names, typed = []) {
  const list = names.join(' ');
  const [view, setView] = useState(() => viewOf(list));
  useEffect(() => {
    const goBack = () => setView(viewOf(list));
    addEventListener('popstate', goBack);
    return () => removeEventListener('popstate', goBack);
  }, [list]);
  const change = (part) => {
    const next = { ...view, ...part };
    const given = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== ''));
    const isTyped = Object.keys(part).every((name) => typed.includes(name));
    history[isTyped ? 'replaceState' : 'pushState'](null, '', `?${given}`);
    setView(next);
  };
  return [view, change];
}

/** Returns what the address says. */
function viewOf(list) {
  const given = new URLSearchParams(location.search);
  return Object.fromEntries(list.split(' ').map((name) => [name, given.get(name) ?? '']));
}
