/** The threads of the editor. Not here: the one for the answer to introspection (introspection.js). */
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphqlWorker from './graphql-worker.js?worker';

const WORKERS = { json: JsonWorker, graphql: GraphqlWorker };

globalThis.MonacoEnvironment = { getWorker: (_, label) => new (WORKERS[label] ?? EditorWorker)() };
