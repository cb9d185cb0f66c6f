/** The keyboard at the editors of GraphiQL: Tab reaches the box around an editor, Enter goes into it, and Esc leaves it, since Tab is text inside. The Enter of
 *  GraphiQL looks for a text area, which an editor does not take keys from where the browser has edit contexts.
 *  The hint is in page.css. Not here: the keys of the editor itself. */
import { useEffect } from 'react';

const BOX = '.graphiql-editor';
/** What Esc closes in an editor, which says of each Esc that it has used it: lists of suggestions, a search, further cursors. */
const OPEN =
  '.suggest-widget.visible, .parameter-hints-widget.visible, .find-widget.visible, .cursor-secondary';
const INPUT = '.native-edit-context, textarea';

export function useEditorKeys() {
  useEffect(() => {
    const move = (event) => {
      const box = event.target.closest(BOX);
      if (!box) return;
      if (event.key === 'Enter' && event.target === box) {
        event.preventDefault();
        box.querySelector(INPUT)?.focus();
      }
      if (event.key === 'Escape' && event.target !== box && !box.querySelector(OPEN)) box.focus();
    };
    // Before the editor closes something.
    document.addEventListener('keydown', move, true);
    return () => document.removeEventListener('keydown', move, true);
  }, []);
}
