/** Objects that users enter as JSON; their numbers keep all digits. Pure. Not here: values of a spec (spec-entry.js). */
import { parseWithAllDigits } from './digits.js';

/** Returns the object that a text has as JSON. Throws the sentence for any other text. */
export function objectIn(text, sentence) {
  let given;
  try {
    given = parseWithAllDigits(text);
  } catch {
    given = null;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Error(sentence);
  return given;
}
