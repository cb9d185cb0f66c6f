/** Parses an answer of the API server. A resource may be nested more deeply than the JSON limit where its definition preserves unknown
 *  fields, and must not make a whole list unreadable: deeper values are replaced with null. The reconcile core rejects such a resource
 *  for its depth (kinds/validate.ts).
 *  Pure. Not here: requests (transport.ts). */
import { parseJson } from '@pergola/engine/metadata';

/** Below the limit of parseJson, above the depth at which a resource is refused. */
const MOST_LEVELS = 500;

export function readAnswer(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const shallow = withoutDepths(text);
    if (shallow === text) throw error;
    return parseJson(shallow);
  }
}

/** Returns the text with `null` in place of every object and list below the limit. */
function withoutDepths(text: string): string {
  const kept: string[] = [];
  let [level, from] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfText(text, at);
    else if (character === '{' || character === '[') {
      if (++level === MOST_LEVELS + 1) kept.push(text.slice(from, at), 'null');
    } else if (character === '}' || character === ']') {
      if (level-- === MOST_LEVELS + 1) from = at + 1;
    }
  }
  return kept.length === 0 ? text : kept.join('') + text.slice(from);
}

function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
