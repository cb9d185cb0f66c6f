/** The title of the tab: what is opened, its page, and Pergola, so that tabs, bookmarks and the history of the browser can be told apart. */
import { useEffect } from 'react';

/** Puts a name in front of the title while the component is shown; nothing for an empty name. */
export function useTitle(name) {
  useEffect(() => {
    if (!name) return;
    const before = document.title;
    document.title = `${name} – ${before}`;
    return () => {
      document.title = before;
    };
  }, [name]);
}
