/** Parses JSON text without losing digits of numbers (number.ts). Raises `invalidJson`, also for text that is nested too deeply, because
 *  functions that walk values are recursive. Pure. RFC 8259, 9. Not here: reading bytes in parts (json/scanner.ts). */
import { fail } from '../errors/engine-error.ts';
import { isPrintedSo, numberFrom } from './number.ts';

/** The same limit as in scanner.ts. */
const MOST_LEVELS = 1000;

export function parseJson(text: string): unknown {
  const found = newSurvey();
  survey(text, found, text.length);
  return parseSurveyed(text, found);
}

/** Looking at this much takes a few milliseconds. */
const PIECE = 400_000;

/** Parses long text in steps: it is looked at piece by piece, then JSON.parse of the whole text is one step. */
export function* parsingJson(text: string, piece = PIECE): Generator<undefined, unknown, undefined> {
  const found = newSurvey();
  while (found.at < text.length) {
    survey(text, found, Math.min(text.length, found.at + piece));
    yield;
  }
  return parseSurveyed(text, found);
}

function parseSurveyed(text: string, { levels, hasRawNumber, additions }: Survey): unknown {
  if (levels > MOST_LEVELS) fail('invalidJson', {});
  try {
    return hasRawNumber ? unmarked(JSON.parse(marked(text, additions))) : JSON.parse(text);
  } catch {
    return fail('invalidJson', {});
  }
}

/** Text to insert at a position before parsing. A number that keeps its text is parsed as a string that begins with a mark, and a string
 *  that begins with the mark gets a second one. A reviver function of JSON.parse would be called for every value and takes three times
 *  as long. */
type Addition = readonly [at: number, piece: string];

const MARK = '\u0001';
/** No JSON text contains the character unescaped. RFC 8259, 7. */
const WRITTEN_MARK = '\\u0001';

type Survey = {
  /** The position up to which the text was looked at, outside of strings and numbers. */
  at: number;
  /** The level at that position, and the greatest one. */
  level: number;
  levels: number;
  /** True if JavaScript would print one of the numbers otherwise. */
  hasRawNumber: boolean;
  readonly additions: Addition[];
};

function newSurvey(): Survey {
  return { at: 0, level: 0, levels: 0, hasRawNumber: false, additions: [] };
}

/** Looks at the text up to a position, and to the end of the string or number there. */
function survey(text: string, found: Survey, end: number): void {
  const { additions } = found;
  let { at, level, levels, hasRawNumber } = found;
  for (; at < end; at++) {
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
  Object.assign(found, { at, level, levels, hasRawNumber });
}

/** True for most numbers: few digits, nothing else, and no leading zero. */
function isShort(text: string, start: number, last: number): boolean {
  if (last - start > 14 || (text.charCodeAt(start) === ZERO && last > start)) return false;
  for (let at = start; at <= last; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}

/** True for a number that keeps its text. Text that is no number, or is a key, is left for JSON.parse to refuse. */
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

/** Replaces marked strings by numbers, in place. */
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
    // Members are defined and not assigned, because `__proto__` is an ordinary name here.
    if (found !== inner) Object.defineProperty(members, key, { ...MEMBER, value: found });
  }
  return members;
}

function withoutMark(text: string): unknown {
  return text.startsWith(MARK) ? text : numberFrom(text);
}

const MEMBER = { writable: true, enumerable: true, configurable: true };

/** Returns the position of the closing quote of a string. */
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
