/** Parses JSON text without losing digits of numbers (number.ts). Raises `invalidJson`, also for text that is nested too deeply, because
 *  functions that walk values are recursive. Pure. RFC 8259, 9. Not here: reading bytes in parts (json/scanner.ts). */
import { fail } from '../errors/engine-error.ts';
import { isPrintedSo, numberFrom } from './number.ts';

/** The same limit as in scanner.ts. */
const MOST_LEVELS = 1000;

export function parseJson(text: string): unknown {
  const found = newSurvey();
  survey(text, found, text.length);
  if (!found.hasRawNumber) return parsed(text, found);
  const steps = parsingMarked(text, found);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Looking at this much takes a few milliseconds. */
const PIECE = 400_000;
/** The number of objects that count as one input value. Each takes up to 90 bytes, for two characters of text. */
const OBJECTS_OF_INPUT = 3;
/** The number of values of one step. */
const VALUES = 20_000;

/** Parses long text in steps: it is looked at piece by piece, then JSON.parse of the whole text is one step, and numbers that keep their text
 *  are replaced some at a time. Raises `tooManyInputs` with `mostInputs` before anything is parsed. */
export function* parsingJson(
  text: string,
  { piece = PIECE, mostInputs = Number.POSITIVE_INFINITY } = {},
): Generator<undefined, unknown, undefined> {
  const found = newSurvey();
  while (found.at < text.length) {
    survey(text, found, Math.min(text.length, found.at + piece));
    if (found.objects > mostInputs * OBJECTS_OF_INPUT) fail('tooManyInputs', { most: mostInputs });
    yield;
  }
  return found.hasRawNumber ? yield* parsingMarked(text, found) : parsed(text, found);
}

function parsed(text: string, { levels }: Survey): unknown {
  if (levels > MOST_LEVELS) fail('invalidJson', {});
  try {
    return JSON.parse(text);
  } catch {
    return fail('invalidJson', {});
  }
}

function* parsingMarked(text: string, found: Survey): Generator<undefined, unknown, undefined> {
  const changed = marked(text, found.additions);
  yield;
  const value = parsed(changed, found);
  yield;
  return yield* unmarking(value);
}

/** Text to insert at a position before parsing. A number that keeps its text is parsed as a string that begins with a mark, and a string
 *  that begins with the mark gets a second one. A reviver function of JSON.parse would be called for every value and takes three times
 *  as long. */
type Additions = {
  /** The positions in ascending order. */
  readonly at: number[];
  /** The index in PIECES for each position. The two lists take a tenth of the memory of a list of pairs, which is what a body of numbers needs. */
  readonly pieces: number[];
};

const MARK = '\u0001';
/** No JSON text contains the character unescaped. RFC 8259, 7. */
const WRITTEN_MARK = '\\u0001';
const PIECES = [WRITTEN_MARK, `"${WRITTEN_MARK}`, '"'] as const;
const [SECOND_MARK, START, END] = [0, 1, 2];

type Survey = {
  /** The position up to which the text was looked at, outside of strings and numbers. */
  at: number;
  /** The level at that position, and the greatest one. */
  level: number;
  levels: number;
  /** The number of objects, lists, and numbers that keep their text. */
  objects: number;
  /** True if JavaScript would print one of the numbers otherwise. */
  hasRawNumber: boolean;
  readonly additions: Additions;
};

function newSurvey(): Survey {
  return { at: 0, level: 0, levels: 0, objects: 0, hasRawNumber: false, additions: { at: [], pieces: [] } };
}

/** Looks at the text up to a position, and to the end of the string or number there. */
function survey(text: string, found: Survey, end: number): void {
  const { additions } = found;
  let { at, level, levels, objects, hasRawNumber } = found;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const start = at + 1;
      at = endOfText(text, at);
      if (text.startsWith(WRITTEN_MARK, start) && !isKey(text, at + 1)) add(additions, start, SECOND_MARK);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      levels = Math.max(levels, ++level);
      objects++;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) level--;
    else if (code === MINUS || isDigit(code)) {
      const start = at;
      while (isOfNumber(text.charCodeAt(at + 1))) at++;
      if (isShort(text, start, at) || !isRaw(text, start, at + 1)) continue;
      hasRawNumber = true;
      objects++;
      add(additions, start, START);
      add(additions, at + 1, END);
    }
  }
  Object.assign(found, { at, level, levels, objects, hasRawNumber });
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
  return !(isPlainFraction(number) || isPrintedSo(number)) && NUMBER.test(number) && !isKey(text, end);
}

/** True for most fractions that JavaScript prints as they are written. Recognizing one takes a fraction of the time of printing it. */
function isPlainFraction(number: string): boolean {
  return number.length <= 15 && PLAIN_FRACTION.test(number);
}

const PLAIN_FRACTION = /^(?:0\.[1-9]|[1-9]\d*\.)(?:\d*[1-9])?$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const SPACES = ' \t\n\r';

function isKey(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && SPACES.includes(text[at]!)) at++;
  return text[at] === ':';
}

function add({ at, pieces }: Additions, position: number, piece: number): void {
  at.push(position);
  pieces.push(piece);
}

/** Builds the text in parts of moderate length: one string that grows would keep all its pieces in memory. */
function marked(text: string, { at, pieces }: Additions): string {
  const parts: string[] = [];
  let from = 0;
  for (let start = 0; start < at.length; start += VALUES) {
    const part: string[] = [];
    for (let i = start; i < Math.min(at.length, start + VALUES); i++) {
      part.push(text.slice(from, at[i]), PIECES[pieces[i]!]!);
      from = at[i]!;
    }
    parts.push(part.join(''));
  }
  return parts.join('') + text.slice(from);
}

/** Replaces marked strings by numbers, in place. Returns the value. */
function* unmarking(value: unknown): Generator<undefined, unknown, undefined> {
  const whole = [value];
  const containers: object[] = [whole];
  let count = 0;
  const replaced = (inner: unknown): unknown => {
    if (typeof inner === 'string') return inner.startsWith(MARK) ? withoutMark(inner.slice(1)) : inner;
    if (typeof inner === 'object' && inner !== null) containers.push(inner);
    return inner;
  };
  for (let container = containers.pop(); container; container = containers.pop()) {
    if (Array.isArray(container)) {
      for (let i = 0; i < container.length; i++) {
        container[i] = replaced(container[i]);
        if (++count % VALUES === 0) yield;
      }
      continue;
    }
    for (const key in container) {
      const inner = (container as Record<string, unknown>)[key];
      const found = replaced(inner);
      // Members are defined and not assigned, because `__proto__` is an ordinary name here.
      if (found !== inner) Object.defineProperty(container, key, { ...MEMBER, value: found });
      if (++count % VALUES === 0) yield;
    }
  }
  return whole[0];
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
