/** Reads ids and cursors, which are base64 of JSON that clients return unread. Like the reference, it is lenient about invalid
 *  base64: only the JSON counts. Not here: the content (node.ts, cursor.ts). Reference: docs/reference/behaviour/relay.md. */

import { scalarOf } from '../catalog/scalars.ts';
import type { PgType } from '../catalog/types.ts';
import { parseJson } from '../json/parse-json.ts';
import { nameOfJson } from '../json/value.ts';

/** Returns the decoded value; undefined when the text holds no JSON. */
export function opened(text: string): unknown {
  try {
    return parseJson(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Returns what is wrong with the JSON type of a value for a column; null when nothing is. Postgres validates texts. */
export function wrongKind(value: unknown, type: PgType): string | null {
  const kinds = kindsOf(type);
  const found = nameOfJson(value);
  if (kinds === null || kinds.expected.includes(found)) return null;
  return `parsing ${kinds.name} failed, expected ${kinds.expected[0]}, but encountered ${found}`;
}

function kindsOf(type: PgType): { readonly name: string; readonly expected: readonly string[] } | null {
  const { input } = scalarOf(type);
  if (input === 'string') return { name: 'Text', expected: ['String'] };
  if (input === 'boolean') return { name: 'Bool', expected: ['Boolean'] };
  if (input === 'json' || input === 'any') return null;
  return { name: 'Scientific', expected: ['Number', 'String'] };
}
