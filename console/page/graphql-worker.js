/** The thread of the editor that completes and validates operations: that of monaco-graphql, with a schema whose types are built when they are used. */
import { initialize } from 'monaco-editor/esm/vs/editor/editor.worker';
import { GraphQLWorker } from 'monaco-graphql/esm/GraphQLWorker';
import { LazySchema } from './lazy-schema.js';

globalThis.onmessage = () => initialize((context, data) => new GraphQLWorker(context, withSchemas(data)));

function withSchemas({ languageConfig, ...data }) {
  const schemas = languageConfig.schemas?.map(({ packed, ...config }) => ({
    ...config,
    schema: new LazySchema(packed),
  }));
  return { ...data, languageConfig: { ...languageConfig, schemas } };
}
