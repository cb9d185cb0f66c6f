/** JSON text → value, without losing digits (number.ts). Raises `invalidJson`, for what is nested too deeply, too: whoever
 *  walks a value does so on a stack. Pure. RFC 8259, 9. Not here: reading bytes part by part (json/scanner.ts). */
import { fail } from '../errors/engine-error.ts';
import { isPrintedSo, numberFrom } from './number.ts';

/** The same limit as in scanner.ts. */
const MOST_LEVELS = 1000;

export function parseJson(text: string): unknown {
  const { levels, hasRawNumber, additions } = survey(text);
  if (levels > MOST_LEVELS) fail('invalidJson', {});
  try {
    return hasRawNumber ? unmarked(JSON.parse(marked(text, additions))) : JSON.parse(text);
  } catch {
    return fail('invalidJson', {});
  }
}

/** What is put in where, so that a number that keeps its text is parsed as a text with a mark before it, and a text that begins with
 *  the mark as one with two. A function that JSON.parse asks for each value would be told of texts of numbers, too, and takes
 *  three times as long. */
type Addition = readonly [at: number, piece: string];

const MARK = '\u0001';
/** No text of JSON has the character otherwise. RFC 8259, 7. */
const WRITTEN_MARK = '\\u0001';

type Survey = {
  readonly levels: number;
  /** One that JavaScript would print otherwise. */
  readonly hasRawNumber: boolean;
  readonly additions: readonly Addition[];
};

function survey(text: string): Survey {
  const additions: Addition[] = [];
  let [level, levels, hasRawNumber] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const start = at + 1;
      at = endOfText(text, at);
      if (text.startsWith(WRITTEN_MARK, start) && !isKey(text, at + 1)) additions.push([start, WRITTEN_MARK]);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) levels = Math.max(levels, ++level);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) level--;
    else if (code === MINUS || isDigit(code)) {
      const start = at;
      while (isOfNumber(text.charCodeAt(at + 1))) at++;
      if (isShort(text, start, at) || !isRaw(text, start, at + 1)) continue;
      hasRawNumber = true;
      additions.push([start, `"${WRITTEN_MARK}`], [at + 1, '"']);
    }
  }
  return { levels, hasRawNumber, additions };
}

/** Most numbers: digits alone, few of them, and no zero before others. */
function isShort(text: string, start: number, last: number): boolean {
  if (last - start > 14 || (text.charCodeAt(start) === ZERO && last > start)) return false;
  for (let at = start; at <= last; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}

/** What is no number, or stands for a key, is left to be refused. */
function isRaw(text: string, start: number, end: number): boolean {
  const number = text.slice(start, end);
  return !isPrintedSo(number) && NUMBER.test(number) && !isKey(text, end);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const SPACES = ' \t\n\r';

function isKey(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && SPACES.includes(text[at]!)) at++;
  return text[at] === ':';
}

function marked(text: string, additions: readonly Addition[]): string {
  let out = '';
  let from = 0;
  for (const [at, piece] of additions) {
    out += text.slice(from, at) + piece;
    from = at;
  }
  return out + text.slice(from);
}

/** In place. */
function unmarked(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? withoutMark(value.slice(1)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = unmarked(value[i]);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const key in members) {
    const inner = members[key];
    const found = unmarked(inner);
    // Nothing is assigned: `__proto__` is a name like others.
    if (found !== inner) Object.defineProperty(members, key, { ...MEMBER, value: found });
  }
  return members;
}

function withoutMark(text: string): unknown {
  return text.startsWith(MARK) ? text : numberFrom(text);
}

const MEMBER = { writable: true, enumerable: true, configurable: true };

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

const [QUOTE, BACKSLASH, MINUS, ZERO] = [34, 92, 45, 48];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [123, 125, 91, 93];
const NUMBER_SIGNS = [...'-+.eE'].map((sign) => sign.charCodeAt(0));
