/** Ids and cursors: what a client is given to hand back unread is base64 of JSON. Lenient like the reference about what is no base64: JSON decides.
 *  Not here: what the JSON says (node.ts, cursor.ts). Reference: docs/reference/behaviour/relay.md. */

import { parseJson } from '../json/parse-json.ts';

/** Undefined when there is no JSON in it. */
export function opened(text: string): unknown {
  try {
    return parseJson(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
