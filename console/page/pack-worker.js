/** A thread that parses the answer to an introspection query. In: the bytes of the answer. Out: `{packed}`, whose bytes are moved and not copied, or
 *  `{body}`, the answer without a schema. */
import { packedSchema } from './packed-schema.js';

globalThis.onmessage = ({ data }) => {
  const body = JSON.parse(new TextDecoder().decode(data));
  if (!body.data?.__schema) return globalThis.postMessage({ body });
  const packed = packedSchema(body.data);
  globalThis.postMessage({ packed }, [packed.bytes.buffer, packed.starts.buffer]);
};
