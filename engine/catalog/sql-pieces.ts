/** Splits SQL text into tokens: white space, comments, strings, quoted names, dollar quotes, words, single characters. No statement,
 *  parenthesis or placeholder begins inside one. Used to search in SQL of administrators. Each character is read a constant number of
 *  times, whatever the text is.
 *  A token without its end extends to the end of the text, and Postgres reports the error.
 *  Not here: what a statement means. PostgreSQL manual, "Lexical Structure"; a string is read as with `standard_conforming_strings`. */

export type SqlPiece = {
  /** `mark` is any other single character, `unfinished` a block comment without its end, which is not white space to Postgres. */
  readonly kind: 'space' | 'comment' | 'string' | 'name' | 'word' | 'mark' | 'unfinished';
  readonly start: number;
  readonly end: number;
};

/** The characters that Postgres skips between tokens. Others that look like a space are part of a word. */
const SPACE = /[ \t\n\r\f\v]+/y;
/** A comment ends before a line feed or a carriage return. */
const LINE = /[^\n\r]*/y;
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const DOLLAR = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const COMMENT_EDGE = /\/\*|\*\//g;

const BACKSLASH = 92;
const QUOTE = 39;

/** Returns the token at a position before the end of the text. */
export function pieceAt(text: string, start: number): SqlPiece {
  const piece = (kind: SqlPiece['kind'], end: number): SqlPiece => ({ kind, start, end });
  switch (text[start]) {
    case "'":
      return piece('string', endOfQuotes(text, start, "'"));
    case '"':
      return piece('name', endOfQuotes(text, start, '"'));
    case 'e':
    case 'E':
      if (text[start + 1] === "'") return piece('string', endOfEscapes(text, start + 2));
      break;
    case '-':
      if (text[start + 1] === '-') return piece('comment', endOf(LINE, text, start)!);
      break;
    case '/':
      if (text[start + 1] === '*') {
        const end = endOfComment(text, start);
        return end === undefined ? piece('unfinished', text.length) : piece('comment', end);
      }
      break;
    case '$':
      return endOfDollars(text, start, piece);
  }
  const space = endOf(SPACE, text, start);
  if (space !== undefined) return piece('space', space);
  const word = endOf(WORD, text, start);
  return word === undefined ? piece('mark', start + 1) : piece('word', word);
}

/** Returns the end of the match at a position; undefined when there is none. */
function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Returns the end of a string or a quoted name. A doubled quote is part of it. */
function endOfQuotes(text: string, start: number, quote: string): number {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf(quote, at);
    if (at < 0) return text.length;
    if (text[at + 1] !== quote) return at + 1;
  }
}

/** Returns the end of a string with escapes whose text begins at a position. It may continue after a new line. */
function endOfEscapes(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    if (code !== QUOTE) continue;
    if (text.charCodeAt(at + 1) === QUOTE) at++;
    else {
      const next = startOfContinuation(text, at + 1);
      if (next === undefined) return at + 1;
      at = next;
    }
  }
  return text.length;
}

/** Returns the position of the quote that continues a string; undefined when none does. At least one new line is before it. */
function startOfContinuation(text: string, start: number): number | undefined {
  let isNewLine = false;
  for (let at = start; ; ) {
    if (text.charCodeAt(at) === QUOTE) return isNewLine ? at : undefined;
    const space = endOf(SPACE, text, at);
    if (space === undefined && !text.startsWith('--', at)) return undefined;
    isNewLine ||= space !== undefined && /[\n\r]/.test(text.slice(at, space));
    at = space ?? endOf(LINE, text, at)!;
  }
}

/** Returns the end of a block comment; undefined when it has none. Block comments nest in Postgres. */
function endOfComment(text: string, start: number): number | undefined {
  COMMENT_EDGE.lastIndex = start;
  for (let depth = 0; ; ) {
    const edge = COMMENT_EDGE.exec(text);
    if (!edge) return undefined;
    depth += edge[0] === '/*' ? 1 : -1;
    if (depth === 0) return COMMENT_EDGE.lastIndex;
  }
}

/** Returns a string in dollar quotes; the dollar sign when it begins none. */
function endOfDollars(
  text: string,
  start: number,
  piece: (kind: SqlPiece['kind'], end: number) => SqlPiece,
): SqlPiece {
  const open = endOf(DOLLAR, text, start);
  if (open === undefined) return piece('mark', start + 1);
  const tag = text.slice(start, open);
  const close = text.indexOf(tag, open);
  return piece('string', close < 0 ? text.length : close + tag.length);
}
