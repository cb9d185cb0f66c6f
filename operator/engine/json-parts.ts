/** Prints JSON in parts, so that the text of a request with tens of thousands of objects is never in memory as a whole.
 *  In: a JSON value. Out: texts of about 64 KiB, which together are what JSON.stringify returns. Pure. Not here: sending (client.ts). */
import { isRecord } from '@pergola/engine/metadata';

const PART_CHARACTERS = 65_536;
/** Lists and objects at deeper levels are printed at once. The objects of a write are five levels below its body. */
const MOST_LEVELS = 5;

/** Yields at least one part. Only the last one may be shorter than 64 Ki characters. */
export function* jsonParts(value: unknown): Generator<string> {
  let part = '';
  for (const piece of piecesOf(value, MOST_LEVELS)) {
    part += piece;
    if (part.length < PART_CHARACTERS) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}

function* piecesOf(value: unknown, levels: number): Generator<string> {
  if (levels > 0 && Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      yield separator;
      yield* piecesOf(item ?? null, levels - 1);
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } else if (levels > 0 && isRecord(value)) {
    let separator = '{';
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* piecesOf(item, levels - 1);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  } else yield JSON.stringify(value);
}
