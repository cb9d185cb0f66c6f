/** The start of the editor in several short tasks of the browser. GraphiQL runs the whole code of the editor in one, and creates four editors in another, of
 *  which the first takes most of the time, because it creates what all of them share. Not here: the threads of the editor (editor-workers.js). */
import { useEffect, useState } from 'react';

/** Returns true when the editors can be created. */
export function useEditorStart() {
  const [isReady, setIsReady] = useState(false);
  useEffect(() => {
    prepare().then(() => setIsReady(true));
  }, []);
  return isReady;
}

/** Runs the code of the editor in two parts, and then creates an editor that is not shown. */
async function prepare() {
  await import('monaco-editor/esm/vs/editor/editor.api.js');
  await nextTask();
  const { editor } = await import('monaco-graphql/esm/monaco-editor.js');
  await nextTask();
  const element = document.body.appendChild(document.createElement('div'));
  editor.create(element, { value: 'query', language: 'graphql' }).dispose();
  element.remove();
  await nextTask();
}

function nextTask() {
  return new Promise((resolve) => setTimeout(resolve));
}
