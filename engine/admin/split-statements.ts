/** SQL text → its statements, so that each can run on its own outside a transaction (`no_transaction`): Postgres wraps a
 *  text of several in one. A semicolon inside quotes, dollar quotes, comments, parentheses or a `begin atomic` body does
 *  not end a statement. Not here: what the statements mean. PostgreSQL manual, "Lexical Structure". */

/** Pieces that one semicolon cannot split, longest reading first. */
const PIECES = new RegExp(
  [
    String.raw`--[^\n]*`,
    String.raw`(?<block>/\*)`,
    String.raw`[eE]'(?:[^'\\]+|\\[\s\S]|'')*'`,
    `'(?:[^']+|'')*'`,
    '"(?:[^"]+|"")*"',
    String.raw`(?<dollar>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)`,
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    '(?<mark>[();])',
    String.raw`[\s\S]`,
  ].join('|'),
  'y',
);

/** Without their semicolons, comments kept, empty ones left out. */
export function splitStatements(text: string): readonly string[] {
  const statements: string[] = [];
  let start = 0;
  let depth = 0;
  let words: string[] = [];
  for (let at = 0; at < text.length; ) {
    const piece = pieceAt(text, at);
    const end = piece.end;
    if (piece.mark === '(') depth++;
    if (piece.mark === ')') depth--;
    if (piece.word) words.push(piece.word.toLowerCase());
    if (piece.mark === ';' && depth <= 0 && atomicDepth(words) === 0) {
      statements.push(text.slice(start, at));
      start = end;
      depth = 0;
      words = [];
    }
    at = end;
  }
  statements.push(text.slice(start));
  return statements.filter((statement) => hasSubstance(statement));
}

type Piece = { readonly end: number; readonly mark?: string | undefined; readonly word?: string | undefined };

function pieceAt(text: string, at: number): Piece {
  PIECES.lastIndex = at;
  const groups = PIECES.exec(text)?.groups ?? {};
  const next = PIECES.lastIndex || at + 1;
  if (groups['block']) return { end: endOfComment(text, at) };
  if (groups['dollar']) {
    const close = text.indexOf(groups['dollar'], next);
    return { end: close < 0 ? text.length : close + groups['dollar'].length };
  }
  return { end: next, mark: groups['mark'], word: groups['word'] };
}

/** Block comments nest in Postgres. */
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

/** How deep inside `create function … begin atomic … end` the words so far end. */
function atomicDepth(words: readonly string[]): number {
  if (words[0] !== 'create') return 0;
  let depth = 0;
  words.forEach((word, index) => {
    if (word === 'atomic' && words[index - 1] === 'begin') depth++;
    else if (depth > 0 && word === 'case') depth++;
    else if (depth > 0 && word === 'end') depth--;
  });
  return depth;
}

function hasSubstance(statement: string): boolean {
  for (let at = 0; at < statement.length; ) {
    const { end } = pieceAt(statement, at);
    const piece = statement.slice(at, end);
    if (!/^(\s|--|\/\*)/.test(piece)) return true;
    at = end;
  }
  return false;
}
