/** JSON with comments and trailing commas, as the editors of variables and headers accept it. Numbers keep all digits.
 *  In place of the functions of GraphiQL (../build.ts). Pure. */
import { parseWithAllDigits } from './digits.js';

/** Returns the object that a text has, undefined for a text without a value. Throws for other texts. */
export function tryParseJSONC(text = '') {
  const json = withoutCommas(withoutComments(text));
  if (json.trim() === '') return undefined;
  let value;
  try {
    value = parseWithAllDigits(json);
  } catch ({ message }) {
    throw new Error(`are invalid JSON: ${message}.`);
  }
  if (value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value) || JSON.isRawJSON?.(value))
    throw new TypeError('are not a JSON object.');
  return value;
}

/** Returns the text with spaces in place of comments: positions in error messages stay right. */
function withoutComments(text) {
  return outsideStrings(text, /\/\/.*|\/\*[\s\S]*?\*\//, (comment) => comment.replaceAll(/\S/g, ' '));
}

function withoutCommas(text) {
  return outsideStrings(text, /,(?=\s*[}\]])/, () => ' ');
}

function outsideStrings(text, pattern, replace) {
  const found = new RegExp(`("(?:[^"\\\\]|\\\\.)*")|${pattern.source}`, 'g');
  return text.replace(found, (part, string) => string ?? replace(part));
}
