/** Splits SQL text into tokens: comments, strings, quoted names, dollar quotes, words, single characters. No statement, parenthesis
 *  or placeholder begins inside one. Used to search in SQL of administrators.
 *  An unfinished token (a string without its end) is returned as single characters, and Postgres reports the error.
 *  Not here: what a statement means. PostgreSQL manual, "Lexical Structure". */

/** The patterns of tokens, longest match first. */
const PIECES = new RegExp(
  [
    String.raw`(?<comment>--[^\n]*)`,
    String.raw`(?<block>/\*)`,
    String.raw`(?<string>[eE]'(?:[^'\\]+|\\[\s\S]|'')*'|'(?:[^']+|'')*')`,
    '(?<name>"(?:[^"]+|"")*")',
    String.raw`(?<dollar>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)`,
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`[\s\S]`,
  ].join('|'),
  'y',
);

export type SqlPiece = {
  readonly kind: 'comment' | 'string' | 'name' | 'word' | 'mark';
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

/** A token. `mark` is any other single character, including white space. */
export function pieceAt(text: string, start: number): SqlPiece {
  PIECES.lastIndex = start;
  const groups = PIECES.exec(text)?.groups ?? {};
  const next = PIECES.lastIndex || start + 1;
  const piece = (kind: SqlPiece['kind'], end = next): SqlPiece => {
    return { kind, text: text.slice(start, end), start, end };
  };
  if (groups['block']) return piece('comment', endOfComment(text, start));
  if (groups['dollar']) {
    const close = text.indexOf(groups['dollar'], next);
    return piece('string', close < 0 ? text.length : close + groups['dollar'].length);
  }
  const kind = (['comment', 'string', 'name', 'word'] as const).find((each) => groups[each] !== undefined);
  return piece(kind ?? 'mark');
}

/** Returns the end of a block comment. Block comments nest in Postgres. */
function endOfComment(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const pair = text.slice(i, i + 2);
    if (pair === '/*') depth++;
    if (pair === '*/') depth--;
    if (pair === '/*' || pair === '*/') i++;
    if (depth === 0) return i + 1;
  }
  return text.length;
}
