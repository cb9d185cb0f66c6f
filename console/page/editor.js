/** What is in the editors of GraphiQL now: the operation, and the headers that it would be sent with. For the panes beside the editor. */
import { useGraphiQL } from '@graphiql/react';
import { createContext, useContext, useEffect, useState } from 'react';
import { secretHeadersOf } from './credentials.js';
import { sentHeaders } from './headers.js';
import { tryParseJSONC } from './jsonc.js';

/** `{session, viewAs, runs, docs}` of the page, for panes, which GraphiQL renders without properties. */
export const ExploreContext = createContext(null);

/** Returns the operation and its headers, again after each change of an editor. `headers` is null while they are no JSON. */
export function useEditorContents() {
  const { session, viewAs } = useContext(ExploreContext);
  const { query, variables, headers, operationName } = useGraphiQL((state) => ({
    query: state.queryEditor,
    variables: state.variableEditor,
    headers: state.headerEditor,
    operationName: state.operationName,
  }));
  const [, setCount] = useState(0);
  useEffect(() => {
    const editors = [query, variables, headers].filter(Boolean);
    const listeners = editors.map((editor) =>
      editor.onDidChangeModelContent(() => setCount((count) => count + 1)),
    );
    return () => {
      for (const listener of listeners) listener.dispose();
    };
  }, [query, variables, headers]);
  const written = jsonIn(headers);
  const given = jsonIn(variables);
  return {
    operation: {
      query: query?.getValue() ?? '',
      ...(given && Object.keys(given).length > 0 && { variables: given }),
      ...(operationName && { operationName }),
    },
    headers: written && viewAs.headers && sentHeaders(secretHeadersOf(session), viewAs.headers, written),
  };
}

/** Returns the object in an editor, an empty one for an empty editor, and null for text that is no object. */
function jsonIn(editor) {
  try {
    return tryParseJSONC(editor?.getValue()) ?? {};
  } catch {
    return null;
  }
}
