/** Reads ids and cursors, which are base64 of JSON that clients return unread. Like the reference, it is lenient about invalid
 *  base64: only the JSON counts. Not here: the content (node.ts, cursor.ts). Reference: docs/reference/behaviour/relay.md. */

import { parseJson } from '../json/parse-json.ts';

/** Returns the decoded value; undefined when the text holds no JSON. */
export function opened(text: string): unknown {
  try {
    return parseJson(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
