/** The focus after the dialogs of GraphiQL: it returns to where it was before, which their buttons do not arrange. Not here: the dialogs. */
import { useEffect } from 'react';

const DIALOG = '.graphiql-dialog';

export function useFocusAfterDialogs() {
  useEffect(() => {
    let before = null;
    const note = ({ target }) => {
      if (!target.closest(DIALOG)) before = target;
    };
    const isDialog = (node) => node.matches?.(DIALOG);
    // Dialogs are children of the body.
    const observer = new MutationObserver((changes) => {
      if (changes.some(({ removedNodes }) => [...removedNodes].some(isDialog))) before?.focus();
    });
    document.addEventListener('focusin', note);
    observer.observe(document.body, { childList: true });
    return () => {
      document.removeEventListener('focusin', note);
      observer.disconnect();
    };
  }, []);
}
