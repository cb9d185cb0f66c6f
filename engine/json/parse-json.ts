/** JSON text → value, without losing digits (number.ts). Raises `invalidJson`, for what is nested too deeply, too: whoever
 *  walks a value does so on a stack. Pure. RFC 8259, 9. Not here: reading bytes part by part (execute/json-scanner.ts). */
import { fail } from '../errors/engine-error.ts';
import { isPrintedSo, numberFrom } from './number.ts';

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Not yet among the types of ES 2024. */
const { parse } = JSON as unknown as { readonly parse: (text: string, reviver?: Reviver) => unknown };

/** As in json-scanner.ts. */
const MOST_LEVELS = 1000;

export function parseJson(text: string): unknown {
  const { levels, hasRawNumber } = survey(text);
  if (levels > MOST_LEVELS) fail('invalidJson', {});
  try {
    return hasRawNumber ? parse(text, keepText) : parse(text);
  } catch {
    return fail('invalidJson', {});
  }
}

/** To be asked first, because looking at the text of every number takes much longer than parsing it. */
function survey(text: string): { readonly levels: number; readonly hasRawNumber: boolean } {
  let [level, levels, hasRawNumber] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) levels = Math.max(levels, ++level);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) level--;
    else if (!hasRawNumber && (code === MINUS || isDigit(code))) {
      const start = at;
      while (isOfNumber(text.charCodeAt(at + 1))) at++;
      hasRawNumber = !isPrintedSo(text.slice(start, at + 1));
    }
  }
  return { levels, hasRawNumber };
}

/** Of a text between quotes: where the second one is. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((at - before) % 2 === 1) return at;
  }
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || NUMBER_SIGNS.includes(code);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

const [QUOTE, BACKSLASH, MINUS] = [34, 92, 45];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [123, 125, 91, 93];
const NUMBER_SIGNS = [...'-+.eE'].map((sign) => sign.charCodeAt(0));

function keepText(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined ? numberFrom(source) : value;
}
