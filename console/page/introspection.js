/** The schema of Explore, which no function of GraphiQL or of its editor builds, prints or parses in the thread of the page: the build of the console
 *  (../build.ts) puts the functions with names of theirs in their place. A thread of its own parses the answer to the introspection query.
 *  Not here: the request (requests.js), the schema (lazy-schema.js). */
import { LazySchema } from './lazy-schema.js';
import PackWorker from './pack-worker.js?worker';

export { getIntrospectionQuery } from 'graphql';

/** Resolves to the answer in `bytes`, whose schema is a `LazySchema`. The thread ends with it. */
export async function parsedIntrospection(bytes) {
  const worker = new PackWorker();
  try {
    const { packed, body } = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(bytes, [bytes]);
    });
    return packed ? { data: { __schema: new LazySchema(packed) } } : body;
  } finally {
    worker.terminate();
  }
}

/** Returns the schema of the answer to an introspection query. In place of the function of graphql. */
export function buildClientSchema({ __schema }) {
  return __schema;
}

/** Returns the configuration for the thread of the editor, which builds the schema again. In place of the function of monaco-graphql. */
export function getStringSchema({ schema, ...config }) {
  return { ...config, packed: schema.packed };
}
