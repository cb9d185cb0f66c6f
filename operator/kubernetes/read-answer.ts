/** The text of an answer of the API server → its value. An object nested more deeply than JSON is read (a resource may be, where its
 *  definition preserves unknown fields) must not make a whole list unreadable: what is too deep in it is cut off. The reconcile core
 *  refuses such a resource for its depth (kinds/validate.ts).
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
